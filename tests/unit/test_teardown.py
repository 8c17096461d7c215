"""What must be gone before a module may be torn down."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hybridwrap.domain.declared import Declared
from hybridwrap.domain.graph import cycle, order, reach, reversed_edges
from hybridwrap.domain.record import Record
from hybridwrap.domain.stack import EngineWish, LedgerSettings, Stack, StateSettings, Verify
from hybridwrap.domain.status import Status
from hybridwrap.domain.teardown import go_before, goes_with, in_the_way, needs_of, owned_in, rests_on
from tests.support.ledgers import begin, ledger_on

CHAIN = {"network": (), "vm": ("network",), "configuration": ("vm",), "health": ("configuration", "vm")}


def test_without_owners_each_module_goes_after_its_dependants() -> None:
    assert go_before(CHAIN, {}) == reversed_edges(CHAIN)


def test_one_that_goes_with_its_owner_waits_for_it_and_its_dependants_go_before_the_owner() -> None:
    found = go_before(CHAIN, {"configuration": "vm"})
    assert found == {"network": ("vm",), "vm": ("health",), "configuration": ("vm",), "health": ()}


def test_what_goes_with_one_that_goes_with_an_owner_goes_along() -> None:
    needs = {"a": (), "b": ("a",), "c": ("b",), "user": ("c",)}
    assert go_before(needs, {"b": "a", "c": "b"}) == {"a": ("user",), "b": ("a",), "c": ("b",), "user": ()}


def test_where_an_owner_would_have_to_wait_for_itself_the_module_goes_alone() -> None:
    needs = {"owner": (), "user": ("owner",), "child": ("owner", "user")}
    assert go_before(needs, {"child": "owner"}) == {"owner": ("child", "user"), "user": ("child",), "child": ()}


def record(name: str, life: str, *, owner: str = "", goes_with: str = "") -> Record:
    declared = Declared(name, (), owner, StateSettings("local"), EngineWish(), Verify())
    return Record(name, incarnation=life, declared=declared, owner_incarnation=goes_with)


def test_the_owner_is_known_by_its_life_under_whatever_name_and_by_its_name_once_that_is_over() -> None:
    disk, other = record("disk", "I3", owner="vm", goes_with="I1"), record("another", "I2")
    assert owned_in({"another": other, "server": record("server", "I1"), "disk": disk}, ()) == {"disk": "server"}
    assert owned_in({"another": other, "vm": record("vm", "I4"), "disk": disk}, ()) == {"disk": "vm"}
    assert owned_in({"vm": record("vm", "I1"), "disk": disk}, {"disk"}) == {}
    assert owned_in({"vm": record("vm", "I1"), "disk": record("disk", "I3", owner="vm")}, ()) == {}


names = st.sampled_from("abcdef")


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    needs: dict[str, tuple[str, ...]] = {}
    for name in "abcdef":
        earlier = sorted(needs)
        needs[name] = tuple(sorted(draw(st.sets(st.sampled_from(earlier))))) if earlier else ()
    owners = {name: draw(st.sampled_from(["", *of])) for name, of in needs.items()}
    return needs, {name: owner for name, owner in owners.items() if owner}


@given(graphs())
def test_there_is_always_an_order_and_nothing_goes_before_its_dependants(
    graph: tuple[dict[str, tuple[str, ...]], dict[str, str]],
) -> None:
    needs, owned = graph
    found = go_before(needs, owned)
    assert not cycle(found)
    place = {name: at for at, name in enumerate(order(found))}
    for name, dependants in reversed_edges(needs).items():
        for dependant in dependants:
            if dependant not in owned:  # else it may go with an owner, which is deleted as a whole
                assert place[dependant] < place[name]
    for child, owner in owned.items():
        alone = found[child] != (owner,)
        assert alone or place[owner] < place[child]
        if not alone:
            assert reach(found, [owner]) >= set(reversed_edges(needs)[child]) - set(owned)


@pytest.mark.parametrize(
    ("status", "stands"),
    [
        (Status.NONE, False),
        (Status.DESTROYED, False),
        (Status.RETAINED, False),
        (Status.OK, True),
        (Status.ERROR, True),
        (Status.UNKNOWN, True),
    ],
)
def test_only_what_is_verified_gone_retained_or_was_never_applied_is_out_of_the_way(
    status: Status, stands: bool
) -> None:
    assert in_the_way(Record("m", settled=status, status=status)) is stands


def test_what_a_module_rests_on_is_what_it_needs_and_whoever_takes_that_along() -> None:
    chain = [record("vm", "I1"), record("disk", "I2", goes_with="I1"), record("mount", "I3", goes_with="I2")]
    records = {each.module: each for each in (*chain, record("app", "I4"))}
    assert rests_on(("mount",), records) == ("mount", "disk", "vm")
    assert rests_on(("app", "vm"), records) == ("app", "vm")
    assert rests_on(("new",), records) == ("new",)
    assert goes_with("vm", owned_in(records, ())) == ("disk", "mount")
    assert goes_with("mount", owned_in(records, ())) == ()


def test_a_module_that_is_being_applied_for_the_first_time_needs_what_its_intent_says() -> None:
    declared = Declared("app", ("network",), "", StateSettings("local"), EngineWish(), Verify())
    ledger = ledger_on()
    held = ledger.begin(ledger.record("app"), replace(begin(), declared=declared), operation="O1")
    stack = Stack("shop", "default", Path("hybridwrap.yaml"), {}, LedgerSettings())
    assert needs_of(stack, {"app": held}) == {"app": ("network",)}
