"""What a record is after each entry; the flows through a store are in test_ledger_*."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hybridwrap.domain.codec import digest_of
from hybridwrap.domain.drift import Acceptance, Difference, Drift
from hybridwrap.domain.engine_run import Action, Diagnostic
from hybridwrap.domain.entry import (
    Adopt,
    Begin,
    Body,
    Cancel,
    CloudObject,
    Confirm,
    End,
    Entry,
    KeptState,
    Late,
    Observe,
    RecordedInput,
    Source,
    Takeover,
)
from hybridwrap.domain.fold import fold
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.record import Record
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.domain.trace import Fate, Step
from hybridwrap.errors import LedgerDamaged
from tests.support.ledgers import LOCKS, begin, cancelled, destroyed, failed, ok, output, state, unknown, writer


def after(*steps: tuple[Body, str], start: Record | None = None) -> Record:
    """Fold bodies, each with its operation, one after the other."""
    record = start or Record("vm")
    for body, operation in steps:
        record = fold(record, entry_after(record, body, operation), digest_of(repr((record.seq, body)).encode()))
    return record


def entry_after(record: Record, body: Body, operation: str = "O1") -> Entry:
    return Entry(
        "L1",
        record.module,
        "I1",
        record.seq + 1,
        operation,
        "E1",
        record.tail,
        f"time {record.seq + 1}",
        writer(),
        body,
    )


def test_a_begin_shows_who_holds_and_leaves_what_is_known_as_it_was() -> None:
    ended = after((begin(), "O1"), (ok(address="a"), "O1"))
    intent = replace(begin(run="R2"), inputs={"size": RecordedInput("large")}, source=Source("sha256:2"))
    held = after((intent, "O2"), start=ended)
    assert (held.status, held.settled) == (Status.RUNNING, Status.OK)
    assert (held.since, held.by, held.run, held.operation, held.command) == (
        "time 3",
        "ana@laptop",
        "R2",
        "O2",
        "apply",
    )
    assert (held.outputs, held.inputs, held.source) == (ended.outputs, ended.inputs, ended.source)
    assert held.intent == intent


def test_an_intent_becomes_fact_at_its_end() -> None:
    intent = replace(begin(), inputs={"size": RecordedInput("large")}, inputs_digest="d", upstream_digest="u")
    ended = after((intent, "O1"), (ok(), "O1"))
    assert (ended.inputs, ended.inputs_digest, ended.upstream_digest) == (intent.inputs, "d", "u")
    assert (ended.source, ended.engine) == (intent.source, intent.engine)
    assert (ended.intent, ended.holder, ended.before) == (None, None, None)


def test_a_failure_says_what_failed_and_the_next_success_clears_it() -> None:
    bad = replace(failed(), failed_command=("terraform", "apply"), errors=(Diagnostic("error", "no capacity"),))
    record = after((begin(), "O1"), (bad, "O1"))
    assert (record.failed_command, record.errors, record.outcome) == (bad.failed_command, bad.errors, Outcome.FAILED)
    assert after((begin(), "O2"), (ok(), "O2"), start=record).errors == ()


def test_a_state_that_an_end_does_not_name_is_the_one_before_it() -> None:
    assert after((begin(serial=4), "O1"), (unknown(), "O1")).state == state(4)


def test_a_state_and_a_lock_that_were_left_are_kept_in_mind_until_the_outcome_is_known() -> None:
    kept = KeptState("here/errored.tfstate", "6e1f", 2, "sha256:3")
    record = after((begin(), "O1"), (replace(unknown(), kept=kept, state_lock="lock-1"), "O1"))
    assert (record.kept, record.state_lock) == (kept, "lock-1")
    still = after((begin("destroy"), "O2"), (unknown(), "O2"), start=record)
    assert (still.kept, still.state_lock) == (kept, "lock-1")
    known = after((begin("destroy"), "O3"), (failed(), "O3"), start=still)
    assert (known.kept, known.state_lock) == (None, "")


def test_an_end_by_somebody_who_does_not_hold_the_module_is_ignored() -> None:
    held = after((begin(), "O1"))
    ignored = after((ok(), "O9"), start=held)
    assert replace(ignored, seq=held.seq, tail=held.tail) == held
    assert after((Confirm(state(1)), "O9"), start=held).holder == held.holder


def test_a_cancel_only_fills_its_slot() -> None:
    record = after((begin(), "O1"), (ok(), "O1"))
    cancelled = after((Cancel("in doubt"), ""), start=record)
    assert replace(cancelled, seq=record.seq, tail=record.tail) == record


def test_missing_outputs_stay_missing_when_others_become_stale() -> None:
    missing = Output(Provenance.MISSING)
    record = after((begin(), "O1"), (failed(1, a=missing, b=output("b")), "O1"), (begin(), "O2"), (unknown(), "O2"))
    assert record.outputs == {"a": missing, "b": output("b", Provenance.STALE)}


def test_an_output_that_a_good_apply_no_longer_has_is_gone() -> None:
    record = after((begin(), "O1"), (ok(a="1", b="2"), "O1"), (begin(), "O2"), (ok(a="1"), "O2"))
    assert set(record.outputs) == {"a"}


def test_an_observed_status_is_since_then_and_an_unchanged_one_is_not() -> None:
    record = after((begin(), "O1"), (failed(), "O1"))
    same = after((Observe("R2", "drift", Status.ERROR), ""), start=record)
    assert (same.since, same.operation, same.run) == (record.since, "O1", "R2")
    cleared = after((Observe("R2", "the plan is empty", Status.OK), ""), start=record)
    assert (cleared.since, cleared.outcome, cleared.reason) == ("time 3", None, "the plan is empty")


def test_observed_inputs_take_their_digests_along() -> None:
    record = after((replace(begin(), inputs_digest="old", upstream_digest="old"), "O1"), (ok(), "O1"))
    seen = after((Observe("R2", "unchanged", inputs={"a": RecordedInput(1)}, inputs_digest="new"), ""), start=record)
    assert (seen.inputs, seen.inputs_digest, seen.upstream_digest) == ({"a": RecordedInput(1)}, "new", "")
    only_drift = after((Observe("R2", "drift"), ""), start=record)
    assert (only_drift.inputs_digest, only_drift.engine, only_drift.source) == ("old", record.engine, record.source)


def test_what_is_adopted_is_ok() -> None:
    record = after((Adopt("R1", "live before", state(9), {"a": output(1)}), ""))
    assert (record.status, record.state, record.command) == (Status.OK, state(9), "adopt")


@pytest.mark.parametrize("body", [begin(), Observe("R1", "drift"), Adopt("R1", "live before", state(1))])
def test_nothing_begins_while_an_operation_holds_the_module(body: Begin | Observe | Adopt) -> None:
    with pytest.raises(LedgerDamaged, match=r"vm entry 2: .* while the module is held by apply O1"):
        after((begin(), "O1"), (body, "O2"))


def test_an_entry_that_does_not_follow_is_damage_that_names_the_seq() -> None:
    record = after((begin(), "O1"))
    following = entry_after(record, ok())
    for wrong, message in (
        (replace(following, seq=3), "vm entry 2: its content is entry 3 of vm"),
        (replace(following, module="web"), "vm entry 2: its content is entry 2 of web"),
        (replace(following, prev="0" * 64), "vm entry 2: it does not follow entry 1"),
    ):
        with pytest.raises(LedgerDamaged, match=message):
            fold(record, wrong, "")


def test_a_head_that_contradicts_itself_is_damage() -> None:
    torn = replace(after((begin(), "O1")), intent=None)
    with pytest.raises(LedgerDamaged, match="what nobody began"):
        after((End(Outcome.SUCCEEDED, Status.OK), "O1"), start=torn)


DRIFT = Drift(
    "time 3",
    (Difference("aws_vpc.main", Action.UPDATE, attributes=("tags",), since="time 3"),),
    (Acceptance("aws_vpc.other", "2026-12-31", "known"),),
)


def drifted() -> Record:
    return after((begin(run="R1"), "O1"), (ok(), "O1"), (Observe("R2", "drift", drift=DRIFT), ""))


def test_drift_is_seen_and_is_no_act_on_the_module() -> None:
    record = drifted()
    assert record.drift == DRIFT
    assert (record.run, record.since, record.status) == ("R1", "time 2", Status.OK)


@pytest.mark.parametrize("end", [ok(2), failed(2), unknown()])
def test_a_change_makes_drift_a_thing_of_the_past_but_decisions_stand(end: End) -> None:
    changed = after((begin(), "O2"), (end, "O2"), start=drifted())
    assert changed.drift == Drift(accepted=DRIFT.accepted)
    undecided = after((Observe("R2", "drift", drift=replace(DRIFT, accepted=())), ""), start=drifted())
    assert after((begin(), "O2"), (end, "O2"), start=undecided).drift is None


def test_drift_stays_when_nothing_ran_and_goes_with_the_module() -> None:
    assert after((begin(), "O2"), (cancelled(Status.OK), "O2"), start=drifted()).drift == DRIFT
    assert after((begin("destroy"), "O2"), (destroyed(), "O2"), start=drifted()).drift is None
    assert after((Observe("R3", "gone", Status.DESTROYED, evidence=("seen",)), ""), start=drifted()).drift is None
    assert after((Adopt("R1", "taken in anew", state(9)), ""), start=drifted()).drift == Drift(accepted=DRIFT.accepted)


# Late results

MADE = CloudObject("aws_vpc.main", "aws_vpc", "id", "vpc-1")
TAKEN = ((begin(), "O1"), (Takeover("R2", "its host is gone", LOCKS), "O2"))
BLIND = replace(unknown(), objects=(CloudObject("aws_vpc.main", "aws_vpc", open=True),))  # begun, id not known
UNSAVED = replace(unknown(), objects=(replace(MADE, open=True),))


@pytest.mark.parametrize("late", [ok(serial=7), UNSAVED], ids=["saved elsewhere", "not saved"])
@pytest.mark.parametrize("end", [BLIND, failed(serial=0), cancelled()], ids=["blind", "failed", "cancelled"])
def test_what_a_late_result_has_made_is_open_with_its_id_before_or_after_the_takers_end(late: End, end: End) -> None:
    said, ended = (Late(late), "O1"), (end, "O2")
    for record in (after(*TAKEN, said, ended), after(*TAKEN, ended, said)):
        assert record.status is Status.UNKNOWN
        assert record.objects == (replace(MADE, open=True),)
        assert record.strays == ()


def test_a_late_result_says_nothing_new_of_what_the_taker_has_seen() -> None:
    for steps in (((Late(UNSAVED), "O1"), (ok(), "O2")), ((ok(), "O2"), (Late(UNSAVED), "O1"))):
        record = after(*TAKEN, *steps)
        assert (record.status, record.objects) == (Status.OK, (MADE,))


def test_a_late_result_lists_only_what_its_own_operation_made_where_it_tells_of_steps() -> None:
    step = Step("aws_vpc.main", Action.CREATE, Fate.DONE, id="vpc-1")
    older = CloudObject("aws_eip.old", "aws_eip", "id", "eip-0")
    late = replace(ok(serial=7), objects=(MADE, older), steps=(step,))
    assert after(*TAKEN, (failed(serial=0), "O2"), (Late(late), "O1")).objects == (replace(MADE, open=True),)


def test_a_late_result_that_comes_while_the_next_operation_runs_shows_at_its_end() -> None:
    running = after(*TAKEN, (failed(serial=0), "O2"), (begin(run="R3"), "O3"), (Late(UNSAVED), "O1"))
    assert running.status is Status.RUNNING
    ended = after((failed(serial=1), "O3"), start=running)
    assert ended.status is Status.UNKNOWN
    assert "aws_vpc.main (vpc-1)" in ended.reason
    assert ended.objects == (replace(MADE, open=True),)
