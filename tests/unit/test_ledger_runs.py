"""Runs: their documents, the newest first, and what they leave pending."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.beat import Beat
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.pending import pending_of
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd, PendingModule, Run, RunEnd, RunStart
from hybridwrap.domain.status import Status
from hybridwrap.errors import LedgerUnreachable, UsageError
from tests.support.faulty_store import CountingStore, Fault, FaultyStore
from tests.support.ledgers import Ids, ledger_on, writer

MODULES = ("network", "vm", "configuration")
EDGES = {"network": (), "vm": ("network",), "configuration": ("vm",)}


def start(run: str, command: str = "apply", modules: tuple[str, ...] = MODULES, **carried: PendingModule) -> RunStart:
    second = int(run.removeprefix("R"))
    return RunStart(
        run, command, f"2026-01-01T00:00:{second:02}.000Z", writer(), (command, *modules), modules, EDGES, carried
    )


def end(run: str, **modules: ModuleEnd) -> RunEnd:
    return RunEnd(run, "2026-01-01T01:00:00.000Z", 0, modules)


def test_runs_are_read_newest_first_with_their_ends() -> None:
    ledger = ledger_on()
    for run in ("R2", "R1", "R3"):
        ledger.start_run(start(run))
    ledger.end_run(end("R1", vm=ModuleEnd("ok")))
    assert [run.start.run for run in ledger.runs()] == ["R3", "R2", "R1"]
    assert [run.end for run in ledger.runs()] == [None, None, end("R1", vm=ModuleEnd("ok"))]


@pytest.mark.parametrize("limit", [1, 2, 3, 9])
def test_only_the_newest_runs_that_are_asked_for_are_read(limit: int) -> None:
    store = CountingStore(MemoryStore())
    ledger = ledger_on(store)
    for number in range(1, 7):
        ledger.start_run(start(f"R{number}"))
        if number % 2:
            ledger.end_run(end(f"R{number}"))
    store.gets = store.lists = 0
    found = ledger.runs(limit)
    assert [run.start.run for run in found] == ["R6", "R5", "R4", "R3", "R2", "R1"][:limit]
    assert [run.end is not None for run in found] == [False, True, False, True, False, True][:limit]
    assert store.lists == 1
    assert store.gets == len(found) + sum(run.end is not None for run in found)


def test_a_run_costs_two_writes() -> None:
    store = CountingStore(MemoryStore())
    ledger = ledger_on(store)
    store.puts = store.lists = 0
    ledger.start_run(start("R1"))
    ledger.end_run(end("R1"))
    assert (store.puts, store.lists) == (2, 0)


def test_a_run_is_found_by_the_beginning_of_its_id() -> None:
    ledger = ledger_on()
    for run in ("R1", "R12", "R20"):
        ledger.start_run(start(run))
    ledger.end_run(end("R20"))
    assert ledger.run("R2").end == end("R20")
    assert ledger.run("R1").start.run == "R1", "a whole id is not ambiguous"
    with pytest.raises(UsageError, match="R may be R1, R12, R20"):
        ledger.run("R")
    with pytest.raises(UsageError, match="there is no run X"):
        ledger.run("X")


def test_another_process_can_end_a_run() -> None:
    ledger = ledger_on()
    ledger.start_run(start("R1"))
    ledger_on(ledger.store, ids=Ids("02")).end_run(end("R1"))
    assert ledger.run("R1").end == end("R1")


def test_a_document_that_cannot_be_stored_is_said_so_and_never_replaced() -> None:
    ledger = ledger_on()
    ledger.start_run(start("R1"))
    ledger.start_run(start("R1"))
    with pytest.raises(LedgerUnreachable, match="is there already, with other content"):
        ledger.start_run(start("R1", "destroy"))
    store = FaultyStore()
    ledger = ledger_on(store)
    store.always = Fault.LOST
    with pytest.raises(LedgerUnreachable, match="could not be stored"):
        ledger.start_run(start("R1"))


def test_beats_are_read_back_and_replace_each_other() -> None:
    ledger = ledger_on()
    made = (CloudObject("aws_vpc.main", "aws_vpc", "id", "vpc-1"),)
    ledger.beat(Beat("vm", "O1", "2026-01-01T00:00:00Z"))
    ledger.beat(Beat("vm", "O1", "2026-01-01T00:00:05Z", made))
    ledger.beat(Beat("vm-2", "O2", "2026-01-01T00:00:05Z"))
    assert ledger.beats("vm") == (Beat("vm", "O1", "2026-01-01T00:00:05Z", made),)


# What is pending


def acted(module: str, run: str, status: Status = Status.OK) -> Record:
    return Record(module, 2, status=status, settled=status, run=run)


def records(**runs: str) -> dict[str, Record]:
    return {module: acted(module, run) for module, run in runs.items()}


def test_modules_that_a_run_did_not_reach_are_pending_with_what_they_wait_for() -> None:
    ended = end(
        "R1",
        network=ModuleEnd("error", operation="O1"),
        vm=ModuleEnd("pending", reason="waits for network", waits_for="network"),
        configuration=ModuleEnd("pending", reason="waits for vm", waits_for="vm"),
    )
    found = pending_of([Run(start("R1"), ended)], {"network": acted("network", "R1", Status.ERROR)})
    assert found == {
        "configuration": PendingModule("waits for vm", "vm", "R1"),
        "vm": PendingModule("waits for network", "network", "R1"),
    }


def test_a_module_whose_plan_failed_is_pending_with_the_reason() -> None:
    ended = end("R1", network=ModuleEnd("error", reason="plan failed: no such image"))
    found = pending_of([Run(start("R1", modules=("network",)), ended)], {})
    assert found == {"network": PendingModule("plan failed: no such image", "", "R1")}


@pytest.mark.parametrize("result", ["ok", "unchanged"])
def test_what_is_done_or_unchanged_is_not_pending(result: str) -> None:
    assert pending_of([Run(start("R1", modules=("vm",)), end("R1", vm=ModuleEnd(result)))], {}) == {}


def test_a_run_that_was_killed_leaves_pending_what_it_had_not_done() -> None:
    found = pending_of([Run(start("R1"), None)], records(network="R1"))
    assert found["vm"] == PendingModule("apply R1 has not reached it", "", "R1")
    assert found["configuration"] == PendingModule("waits for vm", "vm", "R1")
    assert "network" not in found


def test_a_doubt_is_not_hidden_behind_a_wait() -> None:
    runs = [Run(start("R1", modules=("vm",)), end("R1", vm=ModuleEnd("pending", reason="waits")))]
    assert set(pending_of(runs, {"vm": acted("vm", "R0", Status.ERROR)})) == {"vm"}
    assert pending_of(runs, {"vm": acted("vm", "R0", Status.UNKNOWN)}) == {}


def test_a_run_does_not_wait_for_what_it_did_not_select() -> None:
    found = pending_of([Run(start("R1", modules=("vm",)), None)], {})
    assert found["vm"] == PendingModule("apply R1 has not reached it", "", "R1")


def test_a_later_run_that_selects_the_module_takes_it_up() -> None:
    older = Run(start("R1"), end("R1"))
    newer = Run(start("R2", modules=("vm",)), end("R2", vm=ModuleEnd("unchanged")))
    assert set(pending_of([newer, older], {})) == {"network", "configuration"}


def test_an_entry_of_any_later_run_ends_the_waiting() -> None:
    assert pending_of([Run(start("R1"), end("R1"))], records(network="R2", vm="R1", configuration="R3")) == {}


def test_a_destroy_run_makes_nothing_pending() -> None:
    assert pending_of([Run(start("R1", "destroy"), end("R1"))], {}) == {}


def test_what_a_run_carried_forward_stays_pending_until_something_is_done() -> None:
    waiting = PendingModule("waits for db", "db", "R1")
    newest = Run(start("R5", modules=("vm",), web=waiting), end("R5", vm=ModuleEnd("ok")))
    assert pending_of([newest], {}) == {"web": waiting}
    assert pending_of([newest], records(web="R3")) == {}
    taken_up = Run(start("R3", modules=("web",)), end("R3", web=ModuleEnd("unchanged")))
    assert pending_of([newest, taken_up], {}) == {}
    destroying = Run(replace(newest.start, command="destroy"), None)
    assert pending_of([destroying], {}) == {"web": waiting}


def test_pending_survives_from_the_ledger_of_one_run_to_the_next() -> None:
    ledger: Ledger = ledger_on()
    ledger.start_run(start("R1"))
    ledger.end_run(end("R1", vm=ModuleEnd("pending", reason="waits for network", waits_for="network")))
    carried = pending_of(ledger.runs(1), {})
    ledger.start_run(replace(start("R2", modules=("network",)), carried=carried))
    ledger.end_run(end("R2", network=ModuleEnd("ok")))
    assert pending_of(ledger.runs(1), {})["vm"] == PendingModule("waits for network", "network", "R1")


@pytest.mark.parametrize(("since", "waits"), [("2026-01-01T01:00:00.001Z", False), ("2026-01-01T00:59:00.000Z", True)])
def test_an_older_run_that_ends_after_the_refused_one_ends_the_waiting(since: str, waits: bool) -> None:
    refused = Run(start("R2"), end("R2", vm=ModuleEnd("refused", 20, reason="it is in the way")))
    record = replace(acted("vm", "R1"), since=since)
    assert ("vm" in pending_of([refused], {"vm": record})) is waits


def test_a_holder_that_ends_after_the_refusal_ends_the_waiting_while_the_refused_run_goes_on() -> None:
    busy = ModuleEnd("busy", 20, reason="held", began="2026-01-01T00:10:00.000Z")
    run = Run(start("R2"), end("R2", vm=busy))
    held = replace(acted("vm", "R1"), since="2026-01-01T00:20:00.000Z")
    assert "vm" not in pending_of([run], {"vm": held})
    assert "vm" in pending_of([run], {"vm": replace(held, since="2026-01-01T00:05:00.000Z")})


def test_what_was_carried_forward_ends_with_an_older_run_that_ends_later() -> None:
    newest = Run(start("R5", modules=("vm",), web=PendingModule("busy", "", "R4")), end("R5", vm=ModuleEnd("ok")))
    record = replace(acted("web", "R1"), since="2026-01-01T00:00:06.000Z")
    assert pending_of([newest], {"web": record}) == {}


def test_a_rename_ends_the_waiting_of_the_new_name() -> None:
    refused = Run(start("R2", modules=("vm",)), end("R2", vm=ModuleEnd("refused", 10, reason="moved?")))
    renamed = Run(start("R3", "mv", modules=("vm",)), end("R3", vm=ModuleEnd("ok")))
    assert pending_of([renamed, refused], records(vm="R1")) == {}
    assert "vm" in pending_of([Run(renamed.start, None), refused], records(vm="R1"))
    again = Run(start("R4", modules=("vm",)), end("R4", vm=ModuleEnd("refused", 10, reason="no")))
    assert "vm" in pending_of([again, renamed, refused], records(vm="R1")), "a later run counts"
