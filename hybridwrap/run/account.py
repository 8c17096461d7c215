"""What the `end` of an operation says, from all that is known of how it went."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.blame import errors_of
from hybridwrap.domain.engine_run import Stream
from hybridwrap.domain.entry import End
from hybridwrap.domain.half_made import half_made
from hybridwrap.domain.outcome import Verdict
from hybridwrap.domain.partial import objects_after, outputs_after, taken_out
from hybridwrap.domain.ports import Applied, ModuleEngine
from hybridwrap.domain.record import Record
from hybridwrap.domain.redaction import Redaction
from hybridwrap.domain.state import EngineState, Found
from hybridwrap.domain.status import Outcome
from hybridwrap.domain.trace import trace
from hybridwrap.run.preparation import mark_of


class Account(Struct, frozen=True):
    """One operation from its plan to the state that was read after it."""

    held: Record
    engine: ModuleEngine
    declared: Collection[str]  # outputs, by the module's source
    planned: Stream
    whole: bool  # False: the plan had targets, and proves nothing about the rest
    before: EngineState | None
    applied: Applied
    found: Found
    verdict: Verdict
    mask: Redaction


def as_end(account: Account) -> End:
    """Say it as the ledger keeps it; secrets are masked by their values."""
    mask, verdict, stream = account.mask, account.verdict, account.applied.stream
    return replace(
        _left(account),
        failed_command=() if verdict.outcome is Outcome.SUCCEEDED else account.applied.ended.argv,
        errors=tuple(mask.diagnostic(error) for error in errors_of(stream)),
        reason=mask.text(verdict.reason),
        warnings=(*(mask.text(warning) for warning in verdict.warnings), *advice(account)),
        counts=stream.final.changes if stream.final else {},
        steps=trace(stream),
    )


def advice(account: Account) -> tuple[str, ...]:
    """Say what is for those who look closer, and would only be in the way of an error while it happens."""
    ended_badly = account.verdict.outcome in (Outcome.FAILED, Outcome.INTERRUPTED)
    made = half_made(account.held.module, account.found) if ended_badly and not account.verdict.absence else ()
    return tuple(map(account.mask.text, made))


def _left(account: Account) -> End:
    """What is there after an operation: state, outputs, objects; all as before when nothing ran."""
    held, found = account.held, account.found
    outcome, status = account.verdict.outcome, account.verdict.status
    if outcome is Outcome.CANCELLED:
        return End(outcome, status, held.state, held.outputs, held.objects)
    state = found if isinstance(found, EngineState) else None
    # The refresh of the plan may have found that an object is gone.
    stream = replace(account.applied.stream, drifted=account.planned.drifted, vanished=account.planned.vanished)
    return End(
        outcome,
        status,
        state=mark_of(account.engine, state) if state else held.state,
        outputs={}  # a destroy leaves none: the recorded ones stay, as the last that were good
        if account.verdict.absence
        else outputs_after(
            succeeded=outcome is Outcome.SUCCEEDED and account.whole,
            declared=account.declared,
            output_changes=account.planned.output_changes,
            before=held.outputs,
            state_before=account.before,
            state_after=None if outcome is Outcome.UNKNOWN else state,
        ),
        objects=objects_after(taken_out(held.objects, account.before), stream, found),
    )
