"""The record of intent is the lock: what `begin` does when the network does not do what it should."""

from __future__ import annotations

from collections import deque

import pytest

from hybridwrap.domain.entry import Kind, Observe, Takeover
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.status import Status
from hybridwrap.errors import (
    IntentInDoubt,
    LedgerMisused,
    LedgerUnreachable,
    ModuleBusy,
    SlotTaken,
)
from tests.support.faulty_store import Fault, FaultyStore, Network
from tests.support.ledgers import LOCKS, Ids, begin, ledger_on, ok, unknown


def two_clients() -> tuple[Ledger, FaultyStore, Ledger]:
    """A client with a network that can fail, its store, and another client whose network is sound."""
    network = Network()
    other = ledger_on(FaultyStore(network), "bob", Ids("02"))
    store = FaultyStore(network)
    return ledger_on(store, "ana", Ids("01")), store, other


def kinds(ledger: Ledger) -> list[str]:
    return [entry.kind.value for entry in ledger.history("vm")]


def test_a_begin_that_is_stored_holds_the_module() -> None:
    ledger = ledger_on()
    record = ledger.begin(ledger.record("vm"), begin(), operation="O1")
    assert record.status is Status.RUNNING
    assert record.holder is not None
    assert (record.holder.operation, record.holder.token) == ("O1", 1)
    assert ledger_on(ledger.store).record("vm") == record


def test_a_held_module_cannot_be_begun_again_and_nothing_is_written() -> None:
    ledger = ledger_on()
    record = ledger.begin(ledger.record("vm"), begin(), operation="O1")
    with pytest.raises(ModuleBusy, match="apply O1 of ana@laptop since 2026-01-01"):
        ledger.begin(record, begin(), operation="O2")
    assert kinds(ledger) == ["begin"]


@pytest.mark.parametrize("fault", [Fault.ANSWER_LOST, Fault.DELAYED, Fault.DOUBLED, Fault.LOST, Fault.UNSETTLED])
def test_a_begin_whose_first_answer_is_not_to_be_had_is_read_back_and_stands_once(fault: Fault) -> None:
    ledger, store, other = two_clients()
    store.creates = deque([fault])
    record = ledger.begin(ledger.record("vm"), begin(), operation="O1")
    assert record.holder is not None
    assert kinds(other) == ["begin"]
    assert other.record("vm").tail == record.tail


def test_three_conflicts_under_way_and_then_success_are_one_begin() -> None:
    ledger, store, other = two_clients()
    store.creates = deque([Fault.UNSETTLED] * 3)
    ledger.begin(ledger.record("vm"), begin(), operation="O1")
    assert kinds(other) == ["begin"]


def test_twenty_seconds_without_answers_are_waited_for() -> None:
    ledger, store, other = two_clients()
    store.creates = deque([Fault.LOST] * 8)
    began = ledger.clock.monotonic()
    ledger.begin(ledger.record("vm"), begin(), operation="O1")
    assert ledger.clock.monotonic() - began > 10
    assert kinds(other) == ["begin"]


def test_a_begin_is_bound_to_the_tail_that_it_was_planned_on() -> None:
    ledger, _, other = two_clients()
    planned_on = ledger.record("vm")
    held = other.begin(other.record("vm"), begin(), operation="O2")
    other.end(held, ok(), operation="O2", entry_id="E2")
    with pytest.raises(SlotTaken, match="another entry followed entry 0"):
        ledger.begin(planned_on, begin(), operation="O1")
    assert kinds(other) == ["begin", "end"]


def test_a_begin_that_lost_the_race_by_a_hair_is_not_taken_for_stored() -> None:
    ledger, store, other = two_clients()
    record = ledger.record("vm")
    store.before_create = deque([lambda: other.begin(other.record("vm"), begin(), operation="O2")])
    with pytest.raises(SlotTaken):
        ledger.begin(record, begin(), operation="O1")
    assert other.record("vm").operation == "O2"


def test_an_observation_of_our_own_takes_the_slot_too() -> None:
    ledger = ledger_on()
    record = ledger.record("vm")
    ledger.observe(record, Observe("R1", "the plan is empty", Status.OK))
    with pytest.raises(SlotTaken):
        ledger.begin(record, begin(), operation="O1")


def test_a_begin_refused_at_the_first_try_changes_nothing() -> None:
    ledger, store, other = two_clients()
    record = ledger.record("vm")
    store.creates = deque([Fault.FORBIDDEN])
    with pytest.raises(LedgerUnreachable, match=r"not recorded, nothing was changed: 403.*s3:PutObject") as caught:
        ledger.begin(record, begin(), operation="O1")
    assert not isinstance(caught.value, IntentInDoubt)
    assert kinds(other) == []


def test_a_doubtful_begin_is_cancelled_in_its_own_slot() -> None:
    ledger, store, other = two_clients()
    record = ledger.record("vm")
    store.creates = deque([Fault.LOST, Fault.FORBIDDEN])
    with pytest.raises(LedgerUnreachable, match="not recorded, nothing was changed") as caught:
        ledger.begin(record, begin(), operation="O1")
    assert not isinstance(caught.value, IntentInDoubt)
    assert kinds(other) == ["cancel"]
    assert other.record("vm").status is Status.NONE


def test_a_begin_that_was_cancelled_and_arrives_later_finds_its_slot_taken() -> None:
    ledger, store, other = two_clients()
    record = ledger.record("vm")
    store.creates = deque([Fault.STUCK, Fault.FORBIDDEN])
    with pytest.raises(LedgerUnreachable, match="nothing was changed"):
        ledger.begin(record, begin(), operation="O1")
    store.network.deliver()
    assert kinds(other) == ["cancel"]
    assert other.record("vm").holder is None


def test_a_begin_that_lands_just_before_its_cancel_holds() -> None:
    ledger, store, other = two_clients()
    record = ledger.record("vm")
    store.creates = deque([Fault.STUCK, Fault.FORBIDDEN])
    store.before_create = deque([lambda: None, lambda: None, store.network.deliver])
    held = ledger.begin(record, begin(), operation="O1")
    assert held.holder is not None
    assert kinds(other) == ["begin"]


def test_when_the_cancel_is_in_doubt_as_well_the_folder_must_stay() -> None:
    ledger, store, other = two_clients()
    record = ledger.record("vm")
    store.always = Fault.LOST
    with pytest.raises(IntentInDoubt, match="the engine did not start"):
        ledger.begin(record, begin(), operation="O1")
    assert kinds(other) == []


def test_a_doubtful_begin_whose_slot_cannot_be_read_is_in_doubt() -> None:
    ledger, store, _ = two_clients()
    record = ledger.record("vm")
    store.always = Fault.ANSWER_LOST
    with pytest.raises(IntentInDoubt):
        ledger.begin(record, begin(), operation="O1")


def test_another_entry_in_the_slot_of_a_doubtful_begin_is_somebody_who_acted() -> None:
    ledger, store, other = two_clients()
    record = ledger.record("vm")
    store.creates = deque([Fault.LOST, Fault.FORBIDDEN])
    store.before_create = deque(
        [lambda: None, lambda: None, lambda: other.begin(other.record("vm"), begin(), operation="O2")]
    )
    with pytest.raises(SlotTaken):
        ledger.begin(record, begin(), operation="O1")
    assert kinds(other) == ["begin"]


def test_the_engine_may_not_start_while_the_head_does_not_say_so() -> None:
    ledger, store, other = two_clients()
    record = ledger.record("vm")
    store.replaces = deque([Fault.LOST])
    with pytest.raises(IntentInDoubt, match="the intent is recorded, its head is not"):
        ledger.begin(record, begin(), operation="O1")
    assert other.record("vm").status is Status.RUNNING
    assert other.records()["vm"].status is Status.RUNNING, "the other writer has rolled the head forward"


def test_a_takeover_in_doubt_is_not_cancelled() -> None:
    ledger, store, other = two_clients()
    other.begin(other.record("vm"), begin(), operation="O1")
    record = ledger.record("vm")
    store.always = Fault.LOST
    with pytest.raises(IntentInDoubt):
        ledger.takeover(record, Takeover("R2", "its host is gone", LOCKS), operation="O2")
    assert kinds(other) == ["begin"]


def test_a_takeover_holds_and_remembers_whom_it_took_over_from() -> None:
    ledger, _, other = two_clients()
    held = other.begin(other.record("vm"), begin(), operation="O1")
    taken = ledger.takeover(held, Takeover("R2", "its host is gone", LOCKS), operation="O2")
    again = other.takeover(taken, Takeover("R3", "so is the next", LOCKS), operation="O3")
    assert again.holder is not None
    assert [dead.operation for dead in again.holder.took_over] == ["O2", "O1"]
    assert again.holder.command == "apply"
    assert again.status is Status.RUNNING


def test_two_takers_at_once_are_one_taker() -> None:
    ledger, _, other = two_clients()
    held = other.begin(other.record("vm"), begin(), operation="O1")
    ledger.takeover(held, Takeover("R2", "its host is gone", LOCKS), operation="O2")
    with pytest.raises(SlotTaken):
        other.takeover(held, Takeover("R3", "its host is gone", LOCKS), operation="O3")


def test_an_operation_cannot_take_over_from_itself() -> None:
    ledger = ledger_on()
    held = ledger.begin(ledger.record("vm"), begin(), operation="O1")
    with pytest.raises(LedgerMisused):
        ledger.takeover(held, Takeover("R2", "", LOCKS), operation="O1")


def test_an_unknown_module_is_not_applied_before_it_is_reconciled() -> None:
    ledger = ledger_on()
    held = ledger.begin(ledger.record("vm"), begin(), operation="O1")
    record = ledger.end(held, unknown(), operation="O1", entry_id="E1")
    with pytest.raises(LedgerMisused, match="reconciled first"):
        ledger.begin(record, begin(), operation="O2")
    assert ledger.begin(record, begin("destroy"), operation="O3").holder


def test_a_new_incarnation_begins_after_none_and_destroyed_only() -> None:
    ledger = ledger_on()
    first = ledger.end(ledger.begin(ledger.record("vm"), begin(), operation="O1"), ok(), operation="O1", entry_id="E1")
    second = ledger.begin(first, begin(), operation="O2")
    assert second.incarnation == first.incarnation != ""


def test_a_record_that_comes_from_a_head_alone_is_proved_before_it_is_built_on() -> None:
    ledger = ledger_on()
    held = ledger.begin(ledger.record("vm"), begin(), operation="O1")
    ledger.end(held, ok(), operation="O1", entry_id="E1")
    fresh = ledger_on(ledger.store)
    fresh.begin(fresh.records()["vm"], begin(before=Status.OK), operation="O2")
    assert [entry.kind for entry in ledger.history("vm")] == [Kind.BEGIN, Kind.END, Kind.BEGIN]
    assert ledger.verify("vm") == []
