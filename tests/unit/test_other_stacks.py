"""Outputs of other stacks: used only while their module is well, waited for with the reason, secret where they are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.adapters.templates import references, render
from hybridwrap.domain.entry import End
from hybridwrap.domain.inputs import Host, ResolvedInputs, Wait, resolve_inputs, told, upstream_digest
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.stack import LedgerSettings, Literal, Module, OtherStack, Reference
from hybridwrap.domain.state import EngineState, StateOutput
from hybridwrap.run.others import OtherStacks
from tests.support.ledgers import FakeClock, Ids, begin, destroyed, failed, ok, output, unknown, writer

NET = OtherStack("net", "prod", LedgerSettings(), Path("/net/hybridwrap.yaml"), "../net/hybridwrap.yaml")
ID = Reference("NET/vpc", "id")


@pytest.fixture
def theirs() -> Ledger:
    return Ledger(MemoryStore(), "net", "prod", writer("theirs"), FakeClock(), Ids())


def others(theirs: Ledger, *, manifest: bool = True, seen: EngineState | None = None) -> OtherStacks:
    def state_of(other: OtherStack, module: str) -> EngineState:
        if seen is None:
            raise LookupError("no state here")
        return seen

    declared = {"NET": NET if manifest else replace(NET, manifest=None)}
    return OtherStacks(declared, lambda _: theirs, state_of)


def run(ledger: Ledger, body: End, module: str = "vpc") -> None:
    ledger.open()
    held = ledger.begin(ledger.record(module), begin(), operation="O-1")
    ledger.end(held, body, operation="O-1", entry_id="E-1")


def waits(found: Output | Wait) -> str:
    assert isinstance(found, Wait)
    assert found.reference == ID
    return found.reason


def test_an_output_of_a_module_that_is_well_is_used(theirs: Ledger) -> None:
    run(theirs, ok(id="vpc-1"))
    assert others(theirs).output(ID) == output("vpc-1")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            failed(id=output("vpc-1")),
            "vpc of stack net in prod is in error since 2026-01-01 00:00 UTC, after apply",
        ),
        (unknown(), "vpc of stack net in prod is unknown since"),
        (destroyed(), "vpc of stack net in prod was destroyed"),
        (ok(cidr="x"), "is not there: vpc of stack net in prod has no such output"),
    ],
)
def test_what_must_not_be_used_is_waited_for_with_the_reason(theirs: Ledger, body: End, reason: str) -> None:
    run(theirs, body)
    assert reason in waits(others(theirs).output(ID))
    assert waits(others(theirs).output(ID)).startswith("NET/vpc.id is")


def test_what_waits_for_one_module_is_told_at_once(theirs: Ledger) -> None:
    run(theirs, destroyed())
    found = resolved(others(theirs), "{{ stacks.NET.modules.vpc.id }}{{ stacks.NET.modules.vpc.cidr }}")
    assert told(found.waits) == "waits for NET/vpc.cidr, NET/vpc.id: vpc of stack net in prod was destroyed"


def test_while_somebody_changes_a_module_it_is_waited_for(theirs: Ledger) -> None:
    theirs.open()
    theirs.begin(theirs.record("vpc"), begin(), operation="O-1")
    assert "is being changed: apply by theirs@laptop" in waits(others(theirs).output(ID))


def test_a_module_that_was_never_applied_is_waited_for(theirs: Ledger) -> None:
    assert waits(others(theirs).output(ID)).endswith("was not applied")
    assert "was not applied: there is no ledger of it at memory" in waits(others(theirs, manifest=False).output(ID))
    run(theirs, ok(), "dns")
    assert "was not applied; its ledger has: dns" in waits(others(theirs).output(ID))


def test_a_family_is_not_taken_for_a_module(theirs: Ledger) -> None:
    run(theirs, ok(id=1), "vpc.a")
    assert "name one of vpc.a, as in stacks.NET.modules['vpc.a'].…" in waits(others(theirs).output(ID))
    assert others(theirs).output(Reference("NET/vpc.a", "id")) == output(1)


def test_every_question_is_answered_by_what_the_ledger_says_now(theirs: Ledger) -> None:
    asked = others(theirs)
    assert isinstance(asked.output(ID), Wait)
    run(theirs, ok(id="vpc-1"))
    assert asked.output(ID) == output("vpc-1")


def test_nothing_is_written_to_the_other_ledger(theirs: Ledger) -> None:
    run(theirs, ok(id="vpc-1"))
    before = list(theirs.store.list(""))
    reader = Ledger(theirs.store, "net", "prod", writer("ours"), FakeClock(), Ids())
    others(reader).output(ID)
    others(reader).output(Reference("NET/gone", "id"))
    assert list(theirs.store.list("")) == before


def test_the_next_command_is_one_in_the_other_stack(theirs: Ledger) -> None:
    assert others(theirs).next_for(ID) == "hybridwrap apply vpc -e prod -f ../net/hybridwrap.yaml"
    run(theirs, failed())
    assert others(theirs).next_for(ID) == "hybridwrap why vpc -e prod -f ../net/hybridwrap.yaml"
    assert others(theirs, manifest=False).next_for(ID) == ""


@pytest.mark.parametrize("key", ["v1/net/prod/ledger.json", "v1/net/prod/log/vpc/00000002.json"])
def test_a_damage_over_there_is_waited_for_by_what_needs_it_and_looked_at_there(theirs: Ledger, key: str) -> None:
    run(theirs, ok())
    theirs.store.replace(key, b"{")
    reader = others(Ledger(theirs.store, "net", "prod", writer(), FakeClock(), Ids()))
    assert "the log of vpc of stack net in prod is damaged: " in waits(reader.output(ID))
    assert reader.next_for(ID) == "hybridwrap ledger verify vpc -e prod -f ../net/hybridwrap.yaml"


IN_STATE = {"id": StateOutput("s3cret", "string", sensitive=True)}
SECRET = Output(Provenance.KNOWN, sensitive=True)


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (None, "no state here"),
        (
            EngineState("6e1f", 2, outputs=IN_STATE),
            "is not the recorded one",
        ),
        (
            EngineState("else", 1, outputs=IN_STATE),
            "is not the recorded one",
        ),
        (EngineState("6e1f", 1), "is not in the state of"),
    ],
)
def test_a_secret_that_cannot_be_read_from_the_recorded_state_is_waited_for(
    theirs: Ledger, seen: EngineState | None, reason: str
) -> None:
    run(theirs, replace(ok(), outputs={"id": SECRET}))
    found = resolved(others(theirs, seen=seen))
    assert reason in found.waits[0].reason
    assert found.values == {}


def test_a_secret_stays_one(theirs: Ledger) -> None:
    run(theirs, replace(ok(), outputs={"id": SECRET}))
    seen = EngineState("6e1f", 1, outputs=IN_STATE)
    found = resolved(others(theirs, seen=seen))
    assert found.values == {"x": "s3cret"}
    assert found.recorded["x"].sensitive
    assert found.recorded["x"].reference == "{{ stacks.NET.modules.vpc.id }}"
    assert found.secret_values == ("s3cret",)
    assert upstream_digest(found) == ""  # of a secret there is none without a key
    assert upstream_digest(found, b"key")


def test_a_change_over_there_changes_the_digests(theirs: Ledger) -> None:
    run(theirs, ok(id="vpc-1"))
    first = upstream_digest(resolved(others(theirs)))
    other = Ledger(MemoryStore(), "net", "prod", writer("theirs"), FakeClock(), Ids())
    run(other, ok(id="vpc-2"))
    assert first != upstream_digest(resolved(others(other)))
    assert resolved(others(theirs)).upstream == {"NET/vpc.id": "vpc-1"}


def resolved(elsewhere: OtherStacks, text: str = "{{ stacks.NET.modules.vpc.id }}") -> ResolvedInputs:
    given: Mapping[str, object] = {}
    module = Module("reader", Path("/r"), inputs={"x": Literal(text, references(text))})
    host = Host(render, {}, lambda _: "", lambda _: given)  # type: ignore[arg-type,return-value]
    return resolve_inputs(
        module,
        output=lambda r: elsewhere.output(r) if r.stack else None,
        secret=elsewhere.secret,
        host=host,
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ stacks.NET.modules.vpc.id }}", 7),
        ("{{stacks['NET'].modules['vpc'].id}}", 7),
        ("a-{{ stacks.NET.modules.vpc.id }}", "a-7"),
        ("{{ stacks.NET.modules.vpc.id + 1 }}", 8),
    ],
)
def test_a_template_names_an_output_of_another_stack(theirs: Ledger, text: str, expected: object) -> None:
    assert references(text) == (ID,)
    run(theirs, ok(id=7))
    assert resolved(others(theirs), text).values == {"x": expected}
