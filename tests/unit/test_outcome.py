"""The outcome table, on every recorded run and on what was never recorded."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from hybridwrap.adapters.state_file import parse_state
from hybridwrap.domain.engine_run import (
    Action,
    ChangeSummary,
    Diagnostic,
    Ended,
    Hook,
    LockInfo,
    PlannedChange,
    Stream,
)
from hybridwrap.domain.outcome import Seen, Verdict, judge
from hybridwrap.domain.outcome_table import ROWS, Again
from hybridwrap.domain.state import EngineState, Instance, Unreadable
from hybridwrap.domain.status import Outcome, Status
from tests.support.recordings import ENGINES, RECORDINGS, Recording

DONE = ("done", Outcome.SUCCEEDED, Status.OK)
DESTROYED = ("done", Outcome.SUCCEEDED, Status.ERROR)  # until absence is confirmed
FAILED = ("failed", Outcome.FAILED, Status.ERROR)
KILLED = ("killed", Outcome.UNKNOWN, Status.UNKNOWN)
INTERRUPTED = ("interrupted", Outcome.INTERRUPTED, Status.ERROR)
TWICE = ("interrupted twice", Outcome.UNKNOWN, Status.UNKNOWN)
RESCUE = ("kept but not saved", Outcome.UNKNOWN, Status.UNKNOWN)
PREVIOUS = Status.OK  # what stands when nothing ran

EXPECTED = {
    "apply-empty": DONE,
    "apply-ok": DONE,
    "apply-one-of-three-fails": FAILED,  # a and c are made and saved, b is not made
    "apply-partial-tainted": FAILED,
    "apply-planfile": DONE,
    "apply-progress": DONE,
    "apply-provisioner-fails": FAILED,
    "apply-sigint": INTERRUPTED,  # the create in flight ended by itself and is saved
    "apply-sigint-provisioner": INTERRUPTED,
    "apply-sigkill": KILLED,
    "apply-sigkill-local": KILLED,
    "apply-sigterm": INTERRUPTED,  # the engine takes SIGTERM for an interrupt
    "apply-two-sigint": TWICE,  # the object in flight is made and lost
    "apply-two-sigint-local": TWICE,
    "check-warning": DONE,  # a failing check is a warning
    "deposed-left": FAILED,  # no apply_errored: the diagnostic and the deposed object in the state say it
    "destroy-fails": FAILED,
    "destroy-leaves-forgotten": ("left behind", Outcome.SUCCEEDED, Status.RETAINED),  # server a lives on
    "destroy-ok": DESTROYED,
    "destroy-planfile": DESTROYED,
    "encrypted-apply": DONE,
    "engine-crash-rc11": ("killed before anything", Outcome.CANCELLED, PREVIOUS),  # a summary of noughts is nothing
    "import-ok": DONE,
    "lock-denied": ("stopped before anything", Outcome.CANCELLED, PREVIOUS),  # 403, and no Lock Info
    "locked-by-other": ("locked", Outcome.CANCELLED, PREVIOUS),
    "moved": DONE,
    "postcondition-fails": FAILED,  # no apply_errored either
    "provider-crash": FAILED,
    "removed-forget": DONE,
    "replace-create-before-destroy": DONE,
    "replace-forgets-old": DONE,
    "sensitive-output": DONE,
    "slow-lock": DONE,
    "stale-plan": ("stale plan", Outcome.CANCELLED, PREVIOUS),
    "state-dump-in-stream": RESCUE,
    "state-put-denied": RESCUE,
    "unlock-denied": ("only the end failed", Outcome.SUCCEEDED, Status.OK),
}
DESTROYS = {"destroy-fails", "destroy-leaves-forgotten", "destroy-ok", "destroy-planfile"}


def seen(recording: Recording) -> Seen:
    return Seen(
        command="destroy" if recording.scenario in DESTROYS else "apply",
        ended=recording.ended,
        stream=recording.stream,
        before=recording.before,
        after=recording.after,
        errored_state=recording.errored_state is not None,
        previous=PREVIOUS,
    )


def of(scenario: str, engine: str = "terraform-1.11.4") -> Seen:
    return seen(Recording(engine, scenario))


def told(verdict: Verdict) -> tuple[str, Outcome, Status]:
    return verdict.row, verdict.outcome, verdict.status


MUTATING = [recording for recording in RECORDINGS if recording.verb in {"apply", "destroy"}]
READING = [recording for recording in RECORDINGS if recording.verb in {"init", "plan"}]


def test_no_recording_is_left_out() -> None:
    assert len(MUTATING) + len(READING) == len(RECORDINGS) == 136
    assert {recording.scenario for recording in MUTATING} == set(EXPECTED)


@pytest.mark.parametrize("recording", MUTATING, ids=str)
def test_every_recorded_run_is_judged_as_its_note_says(recording: Recording) -> None:
    assert told(judge(seen(recording))) == EXPECTED[recording.scenario]


@pytest.mark.parametrize("recording", READING, ids=str)
def test_an_init_or_a_plan_shows_no_mutation(recording: Recording) -> None:
    assert recording.stream.mutations == ()
    assert recording.stream.final is None
    assert bool(recording.stream.errors) == (recording.ended.exit_code == 1)


def test_every_row_but_those_for_the_unrecorded_is_met_by_a_recording() -> None:
    met = {row for row, _, _ in EXPECTED.values()}
    unrecorded = {"neither saved nor kept", "surprising state", "no summary", "failed before anything"}
    assert {row.name for row in ROWS} == met | unrecorded


# what comes with a verdict


@pytest.mark.parametrize("engine", ENGINES)
def test_a_lock_of_our_own_that_stayed_is_named_for_clearing(engine: str) -> None:
    verdict = judge(of("unlock-denied", engine))
    assert verdict.lock_to_clear is not None
    assert verdict.lock_to_clear.operation == "OperationTypeApply"
    assert verdict.lock_to_clear.id in verdict.warnings[0]
    assert verdict.held_by is None
    assert verdict.again is Again.NOTHING


@pytest.mark.parametrize("engine", ENGINES)
def test_a_lock_of_another_is_named_and_not_ours_to_clear(engine: str) -> None:
    verdict = judge(of("locked-by-other", engine))
    assert verdict.held_by is not None
    assert verdict.held_by.who == "ci@runner"
    assert "ci@runner since 2026-11-29" in verdict.reason
    assert verdict.lock_to_clear is None
    assert verdict.again is Again.WAIT


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("scenario", ["state-put-denied", "state-dump-in-stream"])
def test_a_state_that_was_put_back_is_judged_by_the_events(engine: str, scenario: str) -> None:
    before = of(scenario, engine)
    assert judge(before).rescue
    kept = Recording(engine, scenario).errored_state or parse_state(before.stream.state_dump or b"")
    verdict = judge(replace(before, rescued=True, after=replace(kept, serial=kept.serial + 1)))
    assert told(verdict) == ("only the end failed", Outcome.SUCCEEDED, Status.OK)
    assert not verdict.rescue


def test_a_rescued_run_that_failed_stays_failed() -> None:
    failed = of("apply-one-of-three-fails")
    unsaved = Diagnostic("error", "Failed to save state")
    stream = replace(failed.stream, diagnostics=(*failed.stream.diagnostics, unsaved))
    assert told(judge(replace(failed, stream=stream, rescued=True, errored_state=True))) == FAILED


def test_a_state_neither_saved_nor_kept_is_unknown_and_nothing_to_rescue() -> None:
    verdict = judge(replace(of("state-put-denied"), errored_state=False))
    assert told(verdict) == ("neither saved nor kept", Outcome.UNKNOWN, Status.UNKNOWN)
    assert not verdict.rescue


@pytest.mark.parametrize("scenario", ["removed-forget", "destroy-leaves-forgotten", "replace-forgets-old"])
def test_what_lives_on_unmanaged_is_a_warning(scenario: str) -> None:
    case = of(scenario, "opentofu-1.12.6")
    assert judge(case).warnings == tuple(f"{a} is no longer managed and lives on" for a in case.stream.forgotten)
    assert case.stream.forgotten


@pytest.mark.parametrize("engine", ENGINES)
def test_a_failing_check_is_a_warning(engine: str) -> None:
    assert judge(of("check-warning", engine)).warnings == ("check.c does not hold",)


def test_a_reason_tells_the_first_error_that_says_something() -> None:
    assert judge(of("apply-one-of-three-fails")).reason == ('fakecloud_server.s["b"]: quota exceeded creating server b')
    assert judge(of("state-put-denied")).reason.endswith("Failed to save state (and 1 more)")
    assert judge(of("provider-crash")).reason.endswith("Plugin did not respond"), "said for each object, told once"


# absence, first level


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("scenario", ["destroy-ok", "destroy-planfile"])
def test_a_destroy_that_ended_well_has_the_facts_of_absence(engine: str, scenario: str) -> None:
    absence = judge(of(scenario, engine)).absence
    assert absence is not None
    assert absence.holds


@pytest.mark.parametrize("engine", ENGINES)
def test_a_destroy_that_failed_names_what_is_left(engine: str) -> None:
    absence = judge(of("destroy-fails", engine)).absence
    assert absence is not None
    assert not absence.holds
    assert [instance.address for instance in absence.left] == ['fakecloud_server.s["b"]']


def test_an_empty_state_after_a_destroy_proves_nothing_about_what_was_forgotten() -> None:
    absence = judge(of("destroy-leaves-forgotten", "opentofu-1.12.6")).absence
    assert absence is not None
    assert absence.left == ()
    assert absence.forgotten == ("fakecloud_server.a",)
    assert not absence.holds


def test_a_destroy_that_forgets_without_an_error_is_retained_too() -> None:
    case = of("destroy-leaves-forgotten", "opentofu-1.12.6")
    final = ChangeSummary("destroy", {"remove": 1, "forget": 1})
    quiet = replace(case, ended=Ended(0), stream=replace(case.stream, diagnostics=(), summaries=(final,)))
    assert told(judge(quiet)) == ("done", Outcome.SUCCEEDED, Status.RETAINED)


def test_absence_is_not_proven_by_a_state_that_cannot_be_read() -> None:
    absence = judge(replace(of("destroy-ok"), after=Unreadable("it is encrypted"))).absence
    assert absence is not None
    assert not absence.holds


# nobody saw the engine end


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("scenario", ["apply-ok", "destroy-ok", "apply-empty", "moved"])
def test_without_an_exit_code_a_final_summary_stands_for_success(engine: str, scenario: str) -> None:
    verdict = judge(replace(of(scenario, engine), ended=Ended()))
    assert told(verdict) == EXPECTED[scenario]
    assert "nobody saw the engine end" in verdict.reason


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("scenario", [s for s, expected in EXPECTED.items() if expected in (FAILED, INTERRUPTED)])
def test_without_an_exit_code_an_error_and_a_free_lock_stand_for_failure(engine: str, scenario: str) -> None:
    case = replace(of(scenario, engine), ended=Ended())
    assert told(judge(replace(case, lock_gone=True))) == EXPECTED[scenario]
    assert told(judge(case)) == KILLED


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("scenario", ["apply-sigkill", "apply-sigkill-local"])
def test_without_an_exit_code_and_an_end_of_the_stream_it_was_killed(engine: str, scenario: str) -> None:
    assert told(judge(replace(of(scenario, engine), ended=Ended(), lock_gone=True))) == KILLED


def test_an_empty_stream_of_a_whole_file_proves_that_nothing_ran() -> None:
    case = replace(of("apply-empty"), ended=Ended(), stream=Stream())
    assert told(judge(case)) == ("killed before anything", Outcome.CANCELLED, PREVIOUS)
    assert told(judge(replace(case, stream_complete=False))) == KILLED  # the host went down: lines may be lost
    assert told(judge(replace(case, after=of("apply-ok").after))) == KILLED


# killed


@pytest.mark.parametrize("ended", [Ended(2), Ended(11), Ended(137), Ended(signal=9), Ended(exit_code=-1, signal=1)])
def test_a_crash_or_a_signal_is_unknown_once_something_was_planned(ended: Ended) -> None:
    assert told(judge(replace(of("apply-ok"), ended=ended))) == KILLED


def test_a_kill_right_after_the_plan_was_read_is_not_taken_for_nothing() -> None:
    stream = Stream(version="1.11.4", planned=(PlannedChange("a.b", Action.CREATE),))
    assert told(judge(Seen("apply", Ended(signal=9), stream, None, None))) == KILLED


def test_a_summary_of_more_than_noughts_is_not_taken_for_nothing() -> None:
    stream = Stream(version="1.11.4", summaries=(ChangeSummary("apply", {"add": 1}),))
    assert told(judge(Seen("apply", Ended(11), stream, None, None))) == KILLED


def test_an_engine_that_failed_without_a_word_is_not_taken_for_one_that_did_nothing() -> None:
    verdict = judge(Seen("apply", Ended(1), Stream(), STATE, STATE))
    assert told(verdict) == FAILED
    assert verdict.reason == "the engine gives no reason"


def test_a_kill_is_not_taken_for_nothing_where_the_state_cannot_be_read_again() -> None:
    case = Seen("apply", Ended(signal=9), Stream(version="1.11.4"), STATE, STATE, previous=PREVIOUS)
    assert told(judge(case)) == ("killed before anything", Outcome.CANCELLED, PREVIOUS)
    assert told(judge(replace(case, after=Unreadable("no answer")))) == KILLED


@pytest.mark.parametrize("said", [Stream(version="1.11.4"), Stream(diagnostics=(Diagnostic("error", "no plan"),))])
def test_an_engine_that_said_anything_and_began_nothing_leaves_the_status(said: Stream) -> None:
    assert told(judge(Seen("apply", Ended(1), said, STATE, STATE, previous=PREVIOUS)))[1:] == (
        Outcome.CANCELLED,
        PREVIOUS,
    )


def test_what_was_begun_and_failed_is_a_failure_also_when_the_state_stayed_as_it_was() -> None:
    begun = Hook("x.b", Action.CREATE, "start", "x")
    error = Diagnostic("error", "quota exceeded", address="x.b")
    said = Stream(version="1.11.4", hooks=(begun, replace(begun, phase="errored")), diagnostics=(error,))
    assert told(judge(Seen("apply", Ended(1), said, STATE, STATE, previous=PREVIOUS))) == FAILED


def test_an_unknown_type_of_event_is_not_taken_for_nothing() -> None:
    stream = Stream(version="9.0", unknown_types=("deed_done",))
    assert judge(Seen("apply", Ended(signal=9), stream, None, None)).outcome is Outcome.UNKNOWN


# the state speaks against the events

STATE = EngineState("l", 4, instances=(Instance("x.a", "x", "p", "1"),))
CREATED = Hook("x.a", Action.CREATE, "complete", "x", "id", "1")
WELL = Stream(
    version="1",
    planned=(PlannedChange("x.a", Action.CREATE),),
    hooks=(replace(CREATED, phase="start", id_key="", id_value=""), CREATED),
    summaries=(ChangeSummary("apply", {"add": 1}),),
)


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (STATE, replace(STATE, lineage="other", serial=9), "another one: lineage l -> other"),
        (STATE, replace(STATE, serial=3), "went backwards: serial 4 -> 3"),
        (STATE, None, r"state \(serial 4\) is gone"),
        (STATE, Unreadable("state format 5 is not known"), "format 5 is not known"),
        (STATE, replace(STATE, serial=5, instances=()), r"does not hold: x.a \(create\)"),
        (STATE, STATE, r"does not hold: x.a \(create\)"),
        (None, None, r"does not hold: x.a \(create\)"),
        (STATE, EngineState("", 0, zero_bytes=True), "holds nothing"),
        (replace(STATE, instances=()), replace(STATE, serial=4, readable=False, instances=()), "does not hold"),
    ],
)
@pytest.mark.parametrize("code", [0, 1])
def test_a_state_that_contradicts_the_events_makes_the_outcome_unknown(
    before: EngineState | None, after: EngineState | Unreadable | None, why: str, code: int
) -> None:
    errors = (Diagnostic("error", "no such luck"),) if code else ()
    verdict = judge(Seen("apply", Ended(code), replace(WELL, diagnostics=errors), before, after))
    assert told(verdict) == ("surprising state", Outcome.UNKNOWN, Status.UNKNOWN)
    assert re.search(why, verdict.reason)


@pytest.mark.parametrize(
    ("made", "held", "row"),
    [
        (replace(CREATED, id_key="name", id_value="web"), Instance("x.a", "x", "p"), "done"),
        (replace(CREATED, id_key="", id_value=""), Instance("x.a", "x", "p", "1"), "done"),
        (CREATED, Instance("x.a", "x", "p"), "done"),
        (CREATED, Instance("x.a", "x", "p", "2"), "surprising state"),
        (CREATED, Instance("x.a", "x", "p", "1", deposed="0a0b0c0d"), "done"),
        (CREATED, Instance("x.b", "x", "p", "1"), "surprising state"),
    ],
)
def test_a_made_object_is_looked_for_by_id_or_where_there_is_none_by_address(
    made: Hook, held: Instance, row: str
) -> None:
    stream = replace(WELL, hooks=(WELL.hooks[0], made))
    assert judge(Seen("apply", Ended(0), stream, None, replace(STATE, instances=(held,)))).row == row


def test_a_lock_that_stayed_does_not_hide_an_object_without_an_answer() -> None:
    case = of("unlock-denied")
    begun = Hook("x.a", Action.CREATE, "start", "x")
    assert told(judge(replace(case, stream=replace(case.stream, hooks=(*case.stream.hooks, begun))))) == FAILED


def test_a_delete_that_the_state_still_holds_is_a_surprise() -> None:
    deleted = (Hook("x.a", Action.DELETE, "start", "x", "id", "1"), Hook("x.a", Action.DELETE, "complete", "x"))
    stream = replace(WELL, hooks=deleted, summaries=(ChangeSummary("destroy", {"remove": 1}),))
    verdict = judge(Seen("destroy", Ended(0), stream, STATE, replace(STATE, serial=5)))
    assert verdict.row == "surprising state"


def test_an_update_that_found_nothing_to_change_is_no_surprise() -> None:
    """Some resources are updated in every run and come out as they were: the engine then writes no state."""
    updated = tuple(Hook("x.a", Action.UPDATE, phase, "x", "id", "1") for phase in ("start", "complete"))
    verdict = judge(Seen("apply", Ended(0), replace(WELL, hooks=updated), STATE, STATE))
    assert told(verdict) == DONE


def test_a_stream_without_an_end_does_not_prove_success() -> None:
    verdict = judge(Seen("apply", Ended(0), replace(WELL, summaries=()), None, STATE))
    assert told(verdict) == ("no summary", Outcome.UNKNOWN, Status.UNKNOWN)


def test_the_oldest_states_have_no_lineage_to_compare() -> None:
    verdict = judge(Seen("apply", Ended(0), WELL, EngineState("", 1), STATE))
    assert told(verdict) == DONE


def test_an_apply_of_nothing_on_no_state_is_done() -> None:
    stream = Stream(version="1", summaries=(ChangeSummary("apply", {"add": 0}),))
    assert told(judge(Seen("apply", Ended(0), stream, None, None))) == DONE


# nothing was begun

REFUSED = Stream(
    version="1", planned=WELL.planned, diagnostics=(Diagnostic("error", "no valid credential sources found"),)
)


def test_work_that_did_not_begin_is_never_an_error() -> None:
    verdict = judge(Seen("apply", Ended(1), REFUSED, STATE, STATE, previous=Status.OK))
    assert told(verdict) == ("failed before anything", Outcome.CANCELLED, Status.OK)


def test_an_interrupt_before_anything_began_leaves_the_status() -> None:
    stream = replace(REFUSED, diagnostics=(Diagnostic("error", "execution halted"),), interrupts=1)
    verdict = judge(Seen("apply", Ended(1, interrupts=1), stream, STATE, STATE, previous=Status.ERROR))
    assert (verdict.outcome, verdict.status) == (Outcome.CANCELLED, Status.ERROR)


def test_a_read_of_a_data_source_is_no_beginning() -> None:
    read = tuple(Hook("data.x.a", Action.READ, phase) for phase in ("start", "complete"))
    verdict = judge(Seen("apply", Ended(1), replace(REFUSED, hooks=read), STATE, STATE))
    assert verdict.outcome is Outcome.CANCELLED


def test_a_failure_without_hooks_that_changed_the_state_is_a_failure() -> None:
    verdict = judge(Seen("apply", Ended(1), REFUSED, STATE, replace(STATE, serial=5)))
    assert told(verdict) == FAILED


@pytest.mark.parametrize("engine", ENGINES)
def test_a_corrupt_state_is_not_taken_for_a_held_lock(engine: str) -> None:
    error = Diagnostic("error", "Error acquiring the state lock", "Unsupported state file format")
    stream = replace(of("locked-by-other", engine).stream, diagnostics=(error,))
    verdict = judge(Seen("apply", Ended(1), stream, STATE, Unreadable("it has a byte order mark")))
    assert verdict.row == "stopped before anything"
    assert verdict.held_by is None


def test_interrupts_that_we_sent_count_also_where_the_stream_is_silent() -> None:
    case = of("apply-sigint")
    assert told(judge(replace(case, ended=Ended(1, interrupts=2)))) == TWICE


def test_a_verdict_on_a_run_that_ended_well_is_not_changed_by_late_interrupts() -> None:
    assert told(judge(replace(of("apply-ok"), ended=Ended(0, interrupts=2)))) == DONE


def test_the_lock_info_is_typed() -> None:
    held = judge(of("locked-by-other")).held_by
    assert held == LockInfo(
        id="04dc1f14-8b26-70ec-219f-b5c2ea478b2f",
        path="tfstate/tf111/locked-by-other/terraform.tfstate",
        operation="OperationTypeApply",
        who="ci@runner",
        version="1.11.4",
        created="2026-11-29 23:46:17.453394058 +0000 UTC",
    )
