"""The state guard: which difference between record and state stops a run."""

from __future__ import annotations

import pytest

from hybridwrap.domain.entry import EngineIdentity, StateMark
from hybridwrap.domain.guard import Match, compare, compare_with, written_by_newer
from hybridwrap.domain.record import Record
from hybridwrap.domain.state import EngineState, Instance, StatePlace
from hybridwrap.domain.status import Status

HERE = StatePlace("s3", "shop/vm.tfstate", "states")
THERE = StatePlace("s3", "shop/vm.tfstate", "other-states")


def mark(lineage: str = "", serial: int = 0, place: StatePlace = HERE) -> StateMark:
    return StateMark(place, lineage, serial)


@pytest.mark.parametrize(
    ("recorded", "found", "match", "safe"),
    [
        (None, mark(), Match.NEW, True),
        (None, mark("a", 3), Match.NEW, True),
        (mark("a", 3), mark("a", 3), Match.SAME, True),
        (mark("a", 3), mark("a", 5), Match.ADVANCED, True),
        (mark(), mark(), Match.SAME, True),
        (mark(), mark("a", 1), Match.ADVANCED, True),
        (mark("a", 3), mark(), Match.ABSENT, False),
        (mark("a", 3), mark("a", 2), Match.OLDER, False),
        (mark("a", 3), mark("b", 9), Match.FOREIGN, False),
        (mark("a", 3), mark("a", 3, THERE), Match.MOVED, False),
    ],
)
def test_only_the_same_state_or_its_future_is_safe(
    recorded: StateMark | None, found: StateMark, match: Match, safe: bool
) -> None:
    comparison = compare(recorded, found)
    assert (comparison.match, comparison.safe) == (match, safe)


def test_a_word_that_the_state_was_moved_still_asks_for_the_same_state() -> None:
    assert compare(mark("a", 3), mark("a", 3, THERE), moved=True).match is Match.SAME
    assert compare(mark("a", 3), mark("b", 3, THERE), moved=True).match is Match.FOREIGN
    assert compare(mark("a", 3), mark("", 0, THERE), moved=True).match is Match.ABSENT


def test_a_change_from_outside_names_both_serials() -> None:
    assert str(compare(mark("a", 41), mark("a", 43))) == "changed outside (serial 41 -> 43)"


@pytest.mark.parametrize("found", [mark(), mark("a", 2), mark("b", 1), mark(place=THERE)])
def test_what_is_destroyed_has_no_state_to_lose(found: StateMark) -> None:
    gone = Record("vm", settled=Status.DESTROYED, state=mark("a", 3))
    assert compare_with(gone, found, (), moved=False).match is Match.NEW
    assert not compare_with(gone, mark("a", 2), (Instance("a.b", "a", "p"),), moved=False).safe
    assert not compare_with(gone, mark("a", 2), None, moved=False).safe, "an encrypted one may hold anything"
    assert not compare_with(Record("vm", settled=Status.OK, state=mark("a", 3)), mark("a", 2), (), moved=False).safe


@pytest.mark.parametrize(
    ("wrote", "runs", "said"),
    [
        ("1.12.0", "1.11.4", True),
        ("2.0.0", "1.11.4", True),
        ("1.11.9", "1.11.4", False),
        ("1.9.0", "1.11.4", False),
        ("1.12.0-beta1", "1.11.4", True),
        ("", "1.11.4", False),
        ("no version", "1.11.4", False),
    ],
)
def test_an_engine_that_is_older_than_what_wrote_the_state_is_said(wrote: str, runs: str, said: bool) -> None:
    told = written_by_newer(EngineState("a", 3, wrote), EngineIdentity("terraform", runs))
    assert bool(told) is said
    assert not said or (wrote in told and runs in told)


def test_no_state_was_written_by_nobody() -> None:
    assert written_by_newer(None, EngineIdentity("terraform", "1.11.4")) == ""
