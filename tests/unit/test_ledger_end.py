"""A result is never lost, never recorded twice and never recorded in another's name."""

from __future__ import annotations

from collections import deque

import pytest
from msgspec.structs import replace

from hybridwrap.domain.entry import Confirm, End, Late, Moved, Observe, Retain, Takeover
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.outputs import Provenance
from hybridwrap.domain.record import Record
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.errors import LedgerMisused, LedgerUnreachable, ModuleBusy, ResultNotSent, SlotTaken, Superseded
from tests.support.faulty_store import Fault, FaultyStore, Network
from tests.support.ledgers import LOCKS, Ids, begin, cancelled, destroyed, failed, ledger_on, ok, output, state, unknown


def holding() -> tuple[Ledger, FaultyStore, Ledger, Record]:
    """A client that holds the module by operation O1, its store, another client, the record held."""
    network = Network()
    other = ledger_on(FaultyStore(network), "bob", Ids("02"))
    store = FaultyStore(network)
    ledger = ledger_on(store, "ana", Ids("01"))
    return ledger, store, other, ledger.begin(ledger.record("vm"), begin(), operation="O1")


def kinds(ledger: Ledger) -> list[str]:
    return [entry.kind.value for entry in ledger.history("vm")]


def test_an_end_frees_the_module_and_its_head_says_so() -> None:
    ledger, _, other, held = holding()
    record = ledger.end(held, ok(address="10.0.0.1"), operation="O1", entry_id="E1")
    assert (record.status, record.holder) == (Status.OK, None)
    assert record.outputs["address"].value == "10.0.0.1"
    assert other.records()["vm"] == record


@pytest.mark.parametrize("fault", [Fault.ANSWER_LOST, Fault.DELAYED, Fault.DOUBLED, Fault.LOST, Fault.UNSETTLED])
def test_an_end_whose_first_answer_is_not_to_be_had_is_read_back_and_stands_once(fault: Fault) -> None:
    ledger, store, other, held = holding()
    store.creates = deque([fault])
    assert ledger.end(held, ok(), operation="O1", entry_id="E1").status is Status.OK
    assert kinds(other) == ["begin", "end"]


def test_a_result_that_cannot_be_sent_is_kept_and_sent_again_by_the_same_id() -> None:
    ledger, store, other, held = holding()
    store.always = Fault.LOST
    with pytest.raises(ResultNotSent, match="not yet in the ledger"):
        ledger.end(held, ok(), operation="O1", entry_id="E1")
    assert other.record("vm").status is Status.RUNNING
    store.always = Fault.NONE
    ledger.end(held, ok(), operation="O1", entry_id="E1")
    assert kinds(other) == ["begin", "end"]


def test_a_result_sent_again_although_it_had_landed_is_not_recorded_twice() -> None:
    ledger, store, other, held = holding()
    store.always = Fault.ANSWER_LOST
    with pytest.raises(ResultNotSent):
        ledger.end(held, ok(), operation="O1", entry_id="E1")
    store.always = Fault.NONE
    record = other.end(other.record("vm"), ok(), operation="O1", entry_id="E1")
    assert record.status is Status.OK
    assert kinds(other) == ["begin", "end"]


def test_a_result_sent_again_later_with_another_clock_still_continues_the_chain() -> None:
    ledger, store, _, held = holding()
    store.always = Fault.ANSWER_LOST
    with pytest.raises(ResultNotSent):
        ledger.end(held, ok(), operation="O1", entry_id="E1")
    store.always = Fault.NONE
    ledger.clock.sleep(3600)
    record = ledger.end(held, ok(), operation="O1", entry_id="E1")
    ledger.begin(record, begin(serial=1, before=Status.OK), operation="O2")
    assert ledger.verify("vm") == []


def test_a_result_sent_after_somebody_else_began_again_is_found_where_it_is() -> None:
    ledger, _, other, held = holding()
    ended = other.end(held, ok(), operation="O1", entry_id="E1")
    other.begin(ended, begin(serial=1), operation="O2")
    record = ledger.end(held, ok(), operation="O1", entry_id="E1")
    assert record.operation == "O2"
    assert kinds(other) == ["begin", "end", "begin"]
    assert ledger_on(other.store).records()["vm"].status is Status.RUNNING, "its head is not hidden"


def test_an_end_of_an_operation_that_was_taken_over_is_kept_as_evidence_only() -> None:
    ledger, _, other, held = holding()
    other.takeover(held, Takeover("R2", "its host is gone", LOCKS), operation="O2")
    with pytest.raises(Superseded):
        ledger.end(held, ok(), operation="O1", entry_id="E1")
    assert kinds(other) == ["begin", "takeover", "late"]
    record = other.record("vm")
    assert (record.status, record.operation) == (Status.RUNNING, "O2")
    assert other.verify("vm") == []


def test_a_late_result_is_kept_once() -> None:
    ledger, _, other, held = holding()
    other.takeover(held, Takeover("R2", "its host is gone", LOCKS), operation="O2")
    with pytest.raises(Superseded):
        ledger.end(held, ok(), operation="O1", entry_id="E1")
    ledger.end(held, ok(), operation="O1", entry_id="E1")
    assert kinds(other) == ["begin", "takeover", "late"]


def test_the_holder_ends_in_the_next_slot_when_a_late_result_took_its_own() -> None:
    ledger, _, other, held = holding()
    taken = other.takeover(held, Takeover("R2", "its host is gone", LOCKS), operation="O2")
    with pytest.raises(Superseded):
        ledger.end(held, ok(), operation="O1", entry_id="E1")
    record = other.end(taken, ok(), operation="O2", entry_id="E2")
    assert record.status is Status.OK
    assert kinds(other) == ["begin", "takeover", "late", "end"]


def test_a_late_state_that_the_taker_did_not_find_makes_the_module_unknown_before_or_after_its_end() -> None:
    for late_first in (True, False):
        ledger, _, other, held = holding()
        taken = other.takeover(held, Takeover("R2", "its host is gone", LOCKS), operation="O2")
        if not late_first:
            taken = other.end(taken, failed(serial=0), operation="O2", entry_id="E2")
        with pytest.raises(Superseded):
            ledger.end(held, ok(serial=7), operation="O1", entry_id="E1")
        record = other.end(taken, failed(serial=0), operation="O2", entry_id="E2")
        assert record.status is Status.UNKNOWN
        assert "state serial 7" in record.reason


def test_a_late_state_that_the_taker_did_find_changes_nothing() -> None:
    ledger, _, other, held = holding()
    taken = other.takeover(held, Takeover("R2", "its host is gone", LOCKS), operation="O2")
    other.end(taken, ok(serial=7), operation="O2", entry_id="E2")
    with pytest.raises(Superseded):
        ledger.end(held, ok(serial=7), operation="O1", entry_id="E1")
    assert other.record("vm").status is Status.OK


def test_a_surprise_that_arrives_while_the_next_operation_runs_makes_the_module_unknown_at_its_end() -> None:
    ledger, _, other, held = holding()
    taken = other.takeover(held, Takeover("R2", "its host is gone", LOCKS), operation="O2")
    ended = other.end(taken, ok(serial=1), operation="O2", entry_id="E2")
    running = other.begin(ended, begin(serial=1), operation="O3")
    with pytest.raises(Superseded):
        ledger.end(held, ok(serial=7), operation="O1", entry_id="E1")
    assert other.end(running, ok(serial=2), operation="O3", entry_id="E3").status is Status.UNKNOWN


def test_a_confirm_keeps_the_module_held_and_an_end_follows_it() -> None:
    ledger, _, other, held = holding()
    confirmed = ledger.confirm(held, Confirm(state(1)), operation="O1")
    assert confirmed.holder is not None
    assert confirmed.holder.confirmed
    ledger.end(confirmed, ok(), operation="O1", entry_id="E1")
    assert kinds(other) == ["begin", "confirm", "end"]


def test_a_confirm_that_cannot_be_stored_leaves_its_slot_to_the_end() -> None:
    ledger, store, other, held = holding()
    store.creates = deque([Fault.LOST, Fault.FORBIDDEN])
    assert ledger.confirm(held, Confirm(state(1)), operation="O1") == held
    ledger.end(held, ok(), operation="O1", entry_id="E1")
    assert kinds(other) == ["begin", "end"]


def test_a_confirm_that_lands_just_before_the_end_moves_the_end_to_the_next_slot() -> None:
    ledger, store, other, held = holding()
    store.creates = deque([Fault.STUCK, Fault.FORBIDDEN])
    ledger.confirm(held, Confirm(state(1)), operation="O1")
    store.before_create = deque([store.network.deliver])
    ledger.end(held, ok(), operation="O1", entry_id="E1")
    assert kinds(other) == ["begin", "confirm", "end"]


def test_a_confirm_of_an_operation_that_was_taken_over_is_superseded() -> None:
    ledger, _, other, held = holding()
    other.takeover(held, Takeover("R2", "its host is gone", LOCKS), operation="O2")
    with pytest.raises(Superseded):
        ledger.confirm(held, Confirm(state(1)), operation="O1")
    assert kinds(other) == ["begin", "takeover"]


def test_what_is_not_the_holder_cannot_end_it() -> None:
    ledger, _, other, held = holding()
    with pytest.raises(Superseded):
        ledger.end(held, ok(), operation="O9", entry_id="E9")
    assert other.record("vm").holder is not None


def test_a_cancelled_operation_leaves_everything_as_it_was() -> None:
    ledger, _, _, held = holding()
    before = ledger.end(held, failed(1, address=output("10.0.0.1")), operation="O1", entry_id="E1")
    again = ledger.begin(before, begin(serial=1, run="R2", before=Status.ERROR), operation="O2")
    after = ledger.end(again, cancelled(Status.ERROR), operation="O2", entry_id="E2")
    assert (after.seq, before.seq) == (4, 2)
    for field in ("status", "outputs", "errors", "reason", "since", "run", "operation", "inputs", "state", "outcome"):
        assert getattr(after, field) == getattr(before, field)


def test_a_cancelled_operation_cannot_have_changed_the_status() -> None:
    ledger, _, _, held = holding()
    with pytest.raises(LedgerMisused, match="the status stays none"):
        ledger.end(held, cancelled(Status.ERROR), operation="O1", entry_id="E1")


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (Outcome.SUCCEEDED, Status.NONE),
        (Outcome.FAILED, Status.OK),
        (Outcome.FAILED, Status.DESTROYED),
        (Outcome.INTERRUPTED, Status.RETAINED),
        (Outcome.UNKNOWN, Status.ERROR),
    ],
)
def test_an_outcome_leaves_only_what_it_can(outcome: Outcome, status: Status) -> None:
    ledger, _, other, held = holding()
    with pytest.raises(LedgerMisused, match=f"{outcome} cannot leave {status}"):
        ledger.end(held, End(outcome, status, state(1), evidence=("seen",)), operation="O1", entry_id="E1")
    assert other.record("vm").holder, "nothing was written"


def test_destroyed_needs_evidence() -> None:
    ledger, _, other, held = holding()
    held = ledger.begin(
        ledger.end(held, ok(address="a"), operation="O1", entry_id="E1"),
        begin("destroy", serial=1, before=Status.OK),
        operation="O2",
    )
    with pytest.raises(LedgerMisused, match="evidence"):
        ledger.end(held, replace(destroyed(), evidence=()), operation="O2", entry_id="E2")
    record = ledger.end(held, destroyed(), operation="O2", entry_id="E2")
    assert record.status is Status.DESTROYED
    assert record.objects == ()
    assert record.outputs["address"].provenance is Provenance.STALE, "archived, still readable"
    with pytest.raises(LedgerMisused, match="evidence"):
        ledger.observe(record, Observe("R3", "the owner is gone", Status.DESTROYED))
    assert other.verify("vm") == []


def test_outputs_survive_a_failed_apply_and_an_unknown_one() -> None:
    ledger, _, _, held = holding()
    record = ledger.end(held, ok(1, address="10.0.0.1", name="vm"), operation="O1", entry_id="E1")
    held = ledger.begin(record, begin(serial=1), operation="O2")
    record = ledger.end(held, failed(2, name=output("vm-2")), operation="O2", entry_id="E2")
    assert record.outputs["address"] == output("10.0.0.1", Provenance.STALE)
    assert record.outputs["name"] == output("vm-2")
    assert record.objects, "what is known to exist is not forgotten by a failure"
    held = ledger.begin(record, begin(serial=2), operation="O3")
    record = ledger.end(held, unknown(), operation="O3", entry_id="E3")
    assert record.outputs["name"] == output("vm-2", Provenance.STALE)


def test_a_lost_head_at_the_end_is_looked_behind_by_readers_and_rolled_forward_by_writers() -> None:
    ledger, store, other, held = holding()
    store.replaces = deque([Fault.LOST])
    ledger.end(held, ok(), operation="O1", entry_id="E1")
    assert other.records()["vm"].status is Status.OK
    writer = ledger_on(store, "eve", Ids("03"))
    writer.record("vm")
    head = store.read("v1/shop/prod/head/vm.json")
    assert head is not None
    assert b'"status":"ok"' in head


@pytest.mark.parametrize("fault", [Fault.DELAYED, Fault.STUCK])
def test_a_safe_head_that_arrives_late_does_not_hide_the_operation_that_began_since(fault: Fault) -> None:
    ledger, store, other, held = holding()
    store.replaces = deque([fault])
    ended = ledger.end(held, ok(), operation="O1", entry_id="E1")
    other.begin(ended, begin(serial=1, before=Status.OK), operation="O2")
    store.network.flush()
    store.network.deliver()
    assert ledger_on(store).records()["vm"].status is Status.RUNNING
    assert other.verify("vm") == []


def test_an_observation_clears_an_error_and_keeps_what_it_says_nothing_about() -> None:
    ledger, _, _, held = holding()
    record = ledger.end(held, failed(1, address=output("a")), operation="O1", entry_id="E1")
    record = ledger.observe(record, Observe("R2", "the plan is empty", Status.OK))
    assert (record.status, record.errors, record.run) == (Status.OK, (), "R2")
    assert record.outputs["address"].value == "a"
    seen = ledger.observe(record, Observe("R3", "changed outside 1 -> 4", state=state(4), outputs={"b": output("b")}))
    assert (seen.status, seen.state) == (Status.OK, state(4))
    assert set(seen.outputs) == {"b"}


def test_an_observation_begins_a_life_only_where_it_finds_one_after_none() -> None:
    ledger = ledger_on()

    def seen(status: Status | None, *evidence: str) -> str:
        body = Observe("R1", "seen", status, evidence=evidence)
        return ledger.observe(ledger.record("vm"), body).incarnation

    first = seen(Status.OK)
    assert first
    assert [seen(None), seen(Status.ERROR), seen(Status.DESTROYED, "looked"), seen(None)] == [first] * 4
    assert seen(Status.OK) not in {"", first}


def test_nothing_is_observed_while_an_operation_holds_the_module() -> None:
    _, _, other, held = holding()
    with pytest.raises(ModuleBusy):
        other.observe(held, Observe("R2", "the plan is empty", Status.OK))


def test_an_observation_in_doubt_is_said_to_be_so() -> None:
    ledger, store, _, held = holding()
    record = ledger.end(held, ok(), operation="O1", entry_id="E1")
    store.creates = deque([Fault.LOST, Fault.FORBIDDEN])
    with pytest.raises(LedgerUnreachable, match="not known whether this was recorded"):
        ledger.observe(record, Observe("R2", "drift"))


def test_a_retained_module_is_adopted_before_it_is_applied_again() -> None:
    ledger, _, _, held = holding()
    record = ledger.end(held, ok(), operation="O1", entry_id="E1")
    retained = ledger.retain(record, Retain("R2", "the bucket stays"))
    assert retained.status is Status.RETAINED
    with pytest.raises(LedgerMisused, match="adopted first"):
        ledger.begin(retained, begin(serial=1), operation="O2")


def test_a_module_that_moved_is_none_and_its_next_begin_is_a_new_incarnation() -> None:
    ledger, _, _, held = holding()
    record = ledger.end(held, ok(), operation="O1", entry_id="E1")
    moved = ledger.moved(record, Moved("web", "renamed"))
    assert (moved.status, moved.reason) == (Status.NONE, "moved to web: renamed")
    assert ledger.begin(moved, begin(), operation="O2").incarnation != record.incarnation


def test_two_who_note_at_once_are_told_apart() -> None:
    ledger, _, other, held = holding()
    record = ledger.end(held, ok(), operation="O1", entry_id="E1")
    other.observe(record, Observe("R2", "drift"))
    with pytest.raises(SlotTaken):
        ledger.observe(record, Observe("R3", "drift"))


def test_late_evidence_carries_the_whole_result() -> None:
    ledger, _, other, held = holding()
    other.takeover(held, Takeover("R2", "its host is gone", LOCKS), operation="O2")
    with pytest.raises(Superseded):
        ledger.end(held, ok(3, a="1"), operation="O1", entry_id="E1")
    late = other.history("vm")[-1]
    assert late.body == Late(ok(3, a="1"))
    assert (late.operation, late.entry_id) == ("O1", "E1")
