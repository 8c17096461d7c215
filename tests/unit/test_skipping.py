"""When a module was last planned, as far as the ledger can tell."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd, Run, RunEnd, RunStart
from hybridwrap.domain.status import Status
from hybridwrap.run.skipping import last_planned
from tests.support.ledgers import writer

FIRST, SECOND, THIRD = "01ARZ3NDEK0000000000000000", "01ARZ3NDEM0000000000000000", "01ARZ3NDEN0000000000000000"
MADE = datetime(2016, 7, 30, 23, 54, 10, 259_000, UTC).replace(microsecond=0)
RECORD = Record("vm", seq=2, status=Status.OK, run=FIRST, command="apply")


def run(identifier: str, result: str, *, command: str = "apply", whole: bool = True, skipped: bool = False) -> Run:
    start = RunStart(identifier, command, "2026-03-01T12:00:00Z", writer(), (), ("vm",), {}, whole=whole)
    return Run(start, RunEnd(identifier, "2026-03-01T12:01:00Z", 0, {"vm": ModuleEnd(result, skipped=skipped)}))


def test_an_apply_was_planned_in_its_own_run() -> None:
    planned = last_planned((), RECORD)
    assert planned is not None
    assert planned.replace(microsecond=0) == MADE


def test_a_later_run_that_found_nothing_to_do_planned_it_too() -> None:
    assert last_planned((run(SECOND, "unchanged"),), RECORD) == datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "later",
    [
        run(SECOND, "unchanged", skipped=True),
        run(SECOND, "unchanged", whole=False),
        run(SECOND, "unchanged", command="adopt"),
        run(SECOND, "pending"),
        replace(run(SECOND, "unchanged"), end=None),
    ],
    ids=["skipped", "a part", "no plan", "not reached", "killed"],
)
def test_what_was_not_planned_as_a_whole_to_an_end_does_not_count(later: Run) -> None:
    assert last_planned((later,), RECORD) == last_planned((), RECORD)


def test_what_came_without_a_plan_was_planned_only_by_what_followed() -> None:
    tainted = replace(RECORD, run=SECOND, command="tf taint")
    assert last_planned((run(FIRST, "ok"),), tainted) is None
    assert last_planned((run(THIRD, "unchanged"), run(FIRST, "ok")), tainted) is not None


def test_a_state_that_was_adopted_on_the_way_was_planned_in_the_same_run() -> None:
    assert last_planned((run(SECOND, "unchanged"),), replace(RECORD, run=SECOND, command="adopt")) is not None
