"""How an operation ended, judged from all that was seen of it."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from hybridwrap.domain.engine_run import Diagnostic, Ended, LockInfo, Stream, telling
from hybridwrap.domain.evidence import Absence, absence, surprise, unchanged
from hybridwrap.domain.outcome_table import ROWS, Again, Facts, How, Row
from hybridwrap.domain.state import EngineState, Found
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.domain.trace import Fate, trace

_LOCKED: Final = "Error acquiring the state lock"
_NOT_UNLOCKED: Final = "Error releasing the state lock"
_STALE: Final = "Saved plan is stale"
_LEFT_BEHIND: Final = "left behind forgotten instances"
_NOT_SAVED: Final = frozenset(
    ["Failed to save state", "Failed to persist state to backend", "Failed to create local state file"]
)
_AFTER_WORK: Final = _NOT_SAVED | {_NOT_UNLOCKED}


class Seen(Struct, frozen=True):
    """All that was seen of one operation whose intent is recorded."""

    command: str  # apply or destroy
    ended: Ended
    stream: Stream
    before: EngineState | None  # the state that the plan was made on
    after: Found  # the state read again
    errored_state: bool = False  # the engine left an `errored.tfstate`
    rescued: bool = False  # that, or the state dumped in the stream, was put back, and `after` is it
    lock_gone: bool = False  # the engine's state lock was looked at and is free
    stream_complete: bool = True  # False when the host went down under the engine: the last lines may be lost
    previous: Status = Status.NONE


class Verdict(Struct, frozen=True):
    """How an operation ended, by which row; a reason and warnings hold the engine's words: mask them.

    A destroy that succeeded is not yet `destroyed`: its status is error until absence is confirmed.
    """

    outcome: Outcome
    status: Status
    row: str
    reason: str
    warnings: tuple[str, ...] = ()
    lock_to_clear: LockInfo | None = None  # our own, left behind
    held_by: LockInfo | None = None  # somebody else's
    rescue: bool = False
    again: Again = Again.NOTHING
    absence: Absence | None = None  # after a destroy


def judge(seen: Seen) -> Verdict:
    """Say how an operation ended, by the first row that holds."""
    facts = _facts(seen)
    row = next(row for row in ROWS if row.holds(facts))
    done = row.outcome is Outcome.SUCCEEDED
    return Verdict(
        outcome=row.outcome,
        status=_status(row, seen),
        row=row.name,
        reason=_reason(row, facts, seen),
        warnings=_warnings(seen) if done else (),
        lock_to_clear=_lock(seen.stream, _NOT_UNLOCKED),
        held_by=facts.held_by,
        rescue=row.again is Again.RESCUE,
        again=row.again,
        absence=absence(seen.stream, seen.before, seen.after) if seen.command == "destroy" else None,
    )


def _facts(seen: Seen) -> Facts:
    stream = seen.stream
    steps = trace(stream)
    silent = not (stream.planned or stream.mutations or stream.unknown_types or _counted(stream))
    same = unchanged(seen.before, seen.after)
    witnessed = bool(stream.version or stream.errors)
    summaries = {error.summary for error in stream.errors}
    return Facts(
        how=_how(seen),
        interrupts=max(seen.ended.interrupts, stream.interrupts),
        silent=silent and seen.stream_complete,
        witnessed=witnessed,
        untouched=same and witnessed and not stream.mutations,
        unchanged=same,
        surprise=surprise(seen.before, seen.after, steps),
        summary=stream.final is not None,
        kept=not seen.rescued and (seen.errored_state or stream.state_dump is not None),
        unsaved=not seen.rescued and not summaries.isdisjoint(_NOT_SAVED),
        only_after_work=bool(summaries) and summaries <= _AFTER_WORK and all(s.fate is Fate.DONE for s in steps),
        held_by=_lock(stream, _LOCKED),
        stale=_STALE in summaries,
        left_behind=any(_LEFT_BEHIND in summary for summary in summaries),
    )


def _how(seen: Seen) -> How:
    ended, stream = seen.ended, seen.stream
    if ended.signal is not None:
        return How.KILLED
    match ended.exit_code:
        case 0:
            return How.WELL
        case 1:
            return How.BADLY
        case None if stream.final and not stream.errors:
            return How.WELL
        case None if stream.errors and seen.lock_gone:
            return How.BADLY
        case _:  # 11 and 2 are crashes, above 128 a shell reports a signal
            return How.KILLED


def _counted(stream: Stream) -> bool:
    return any(count for summary in stream.summaries for count in summary.changes.values())


def _lock(stream: Stream, summary: str) -> LockInfo | None:
    return next((error.lock for error in stream.errors if error.summary == summary and error.lock), None)


def _status(row: Row, seen: Seen) -> Status:
    if row.status is Status.OK and seen.command == "destroy":
        return Status.RETAINED if seen.stream.forgotten else Status.ERROR
    return row.status or seen.previous


def _reason(row: Row, facts: Facts, seen: Seen) -> str:
    holder = facts.held_by
    unseen = seen.ended.exit_code is None and seen.ended.signal is None and "{how}" not in row.reason
    reason = row.reason.format(
        how=_how_it_ended(seen.ended),
        error=_first_error(seen.stream.errors),
        holder=str(holder or ""),
        surprise=facts.surprise,
        forgotten=", ".join(seen.stream.forgotten) or "the engine does not say what",
    )
    return f"{reason} (nobody saw the engine end)" if unseen else reason


def _how_it_ended(ended: Ended) -> str:
    if ended.signal is not None:
        return f"the engine was killed by signal {ended.signal}"
    if ended.exit_code is None:
        return "nobody saw the engine end"
    return f"the engine ended with exit code {ended.exit_code}"


def _first_error(errors: tuple[Diagnostic, ...]) -> str:
    told = telling(errors) or errors
    if not told:
        return "the engine gives no reason"
    where = f"{told[0].address}: " if told[0].address else ""
    more = f" (and {len(told) - 1} more)" if len(told) > 1 else ""
    return f"{where}{told[0].summary}{more}"


def _warnings(seen: Seen) -> tuple[str, ...]:
    kept = [f"{address} is no longer managed and lives on" for address in seen.stream.forgotten]
    state = seen.after if isinstance(seen.after, EngineState) else None
    failing = [f"{check} does not hold" for check in (state.failed_checks if state else ())]
    lock = _lock(seen.stream, _NOT_UNLOCKED)
    held = [f"the engine's state lock {lock.id} was not released"] if lock else []
    return (*kept, *failing, *held)
