"""Objects whose end nobody knows: what a state says of them, and what an operator may."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hybridwrap.domain.engine_run import Action, PlannedChange
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.open_objects import (
    Open,
    accounted,
    completed,
    import_blocks,
    parse_id,
    perhaps_begun,
    sort_open,
    with_ids,
    without,
)
from hybridwrap.domain.state import Instance
from hybridwrap.errors import UsageError

MADE = CloudObject("x.a", "x", "id", "1", open=True)
BEGUN = CloudObject("x.b", "x", open=True)
UNFINISHED = CloudObject("x.c", "x", "id", "3", open=True, unfinished=True)
KNOWN = CloudObject("x.d", "x", "id", "4")
ALL = (MADE, BEGUN, UNFINISHED, KNOWN)


def there(address: str, id_: str, *, tainted: bool = False, deposed: str = "") -> Instance:
    return Instance(address, "x", "p", id_, tainted=tainted, deposed=deposed)


def test_each_open_object_is_in_the_part_that_says_what_to_do() -> None:
    found = sort_open(ALL, [there("x.c", "3"), there("x.d", "4")])
    assert found == Open(importable=(MADE,), unanswered=(BEGUN,), unfinished=(UNFINISHED,))


def test_an_object_whose_place_another_one_has_cannot_be_imported() -> None:
    assert sort_open([MADE], [there("x.a", "other")]).displaced == (MADE,)
    assert sort_open([MADE], [there("x.a", "other", deposed="0a")]).importable == (MADE,)


def test_what_a_refreshed_state_has_is_accounted_for_unless_its_making_came_to_no_end() -> None:
    state = [there("x.a", "1"), there("x.b", "2"), there("x.c", "3")]
    assert accounted(ALL, state) == (replace(MADE, open=False), BEGUN, UNFINISHED, KNOWN)


def test_an_unfinished_object_that_the_next_plan_replaces_is_accounted_for() -> None:
    assert accounted([UNFINISHED], [there("x.c", "3", tainted=True)]) == (
        replace(UNFINISHED, open=False, unfinished=False),
    )


def test_what_may_have_been_begun_is_all_that_was_to_be_made_and_is_seen_nowhere() -> None:
    planned = [PlannedChange(f"x.{name}", Action.CREATE, "x") for name in "abef"]
    planned += [PlannedChange("x.d", Action.REPLACE, "x"), PlannedChange("x.g", Action.UPDATE, "x")]
    found = perhaps_begun(planned, ALL, [there("x.e", "5"), there("x.d", "4")])
    assert found == (CloudObject("x.f", "x", open=True), CloudObject("x.d", "x", open=True))


def test_an_id_that_was_found_is_given_to_what_has_none() -> None:
    assert with_ids(ALL, {"x.b": "2", "x.a": "9"}) == (
        MADE,
        replace(BEGUN, id_key="id", id="2"),
        UNFINISHED,
        KNOWN,
    )


def test_an_operator_names_what_is_absent_by_address_or_by_address_and_id() -> None:
    again = replace(MADE, id="7")
    assert without(ALL, ["x.b"]) == (MADE, UNFINISHED, KNOWN)
    assert without([MADE, again], ["x.a=7"]) == (MADE,)


@pytest.mark.parametrize("name", ["x.d", "x.z", "x.a=2"])
def test_a_word_about_what_is_not_open_is_refused_with_what_is(name: str) -> None:
    with pytest.raises(UsageError, match=r"open are: x\.a=1, x\.b, x\.c=3"):
        without(ALL, [name])


def test_a_word_that_names_two_objects_is_refused() -> None:
    with pytest.raises(UsageError, match="several"):
        without([MADE, replace(MADE, id="7")], ["x.a"])


def test_only_what_is_in_the_state_can_be_called_complete() -> None:
    assert completed(ALL, ["x.c"])[2] == replace(UNFINISHED, open=False, unfinished=False)
    with pytest.raises(UsageError, match="not in the state"):
        completed(ALL, ["x.b"])


@pytest.mark.parametrize("address", ['x.b["a=b"]', "x.b[0]", "module.m.x.b"])
def test_an_address_may_hold_the_sign_that_parts_it_from_the_id(address: str) -> None:
    assert parse_id([replace(BEGUN, address=address)], f"{address}=arn:aws:x=1") == (address, "arn:aws:x=1")


@pytest.mark.parametrize("text", ["x.d=4", "x.b", "x.b=", "x.z=1"])
def test_an_id_for_what_is_not_open_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="names no open object"):
        parse_id(ALL, text)


def test_import_blocks_can_be_pasted_into_a_module() -> None:
    odd = replace(MADE, address='x.a["k"]', id='a"${b}%{c}\\')
    assert import_blocks([odd]) == 'import {\n  to = x.a["k"]\n  id = "a\\"$${b}%%{c}\\\\"\n}\n'


def test_what_is_open_already_is_not_perhaps_begun_once_more() -> None:
    planned = [PlannedChange("x.a", action, "x") for action in (Action.CREATE, Action.REPLACE)]
    assert [o.address for o in perhaps_begun(planned, (), ())] == ["x.a", "x.a"]
    assert perhaps_begun(planned, [CloudObject("x.a", "x", open=True)], ()) == ()
