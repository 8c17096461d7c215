"""From what an engine did to what the ledger keeps of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hybridwrap.domain.entry import End
from hybridwrap.domain.outcome import Seen, Verdict, judge
from hybridwrap.domain.outcome_table import Again
from hybridwrap.domain.partial import objects_after, outputs_after
from hybridwrap.domain.ports import Applied
from hybridwrap.domain.record import Record
from hybridwrap.domain.state import EngineState, Found
from hybridwrap.domain.status import Outcome
from hybridwrap.run.context import Context
from hybridwrap.run.masking import mask_of
from hybridwrap.run.preparation import Prepared, mark_of, state_again


@dataclass(frozen=True, slots=True)
class Reading:
    end: End
    again: Again


def read_apply(context: Context, prepared: Prepared, held: Record, applied: Applied) -> Reading:
    """Judge an apply by its exit code, its events and the state read again; secrets are masked by their values."""
    found = state_again(prepared.engine)
    context.knowledge.learn_secrets(prepared.module.name, found if isinstance(found, EngineState) else None)
    verdict = judge(
        Seen(
            command="apply",
            ended=applied.ended,
            stream=applied.stream,
            before=prepared.state,
            after=found,
            errored_state=applied.errored_state is not None,
            previous=held.settled,
        )
    )
    return Reading(_end(context, prepared, held, applied, verdict, found), verdict.again)


def _end(context: Context, prepared: Prepared, held: Record, applied: Applied, verdict: Verdict, found: Found) -> End:
    mask = mask_of(context, prepared.inputs)
    stream = applied.stream
    return replace(
        _left(context, prepared, held, applied, verdict, found),
        failed_command=() if verdict.outcome is Outcome.SUCCEEDED else applied.ended.argv,
        errors=tuple(mask.diagnostic(error) for error in stream.errors),
        reason=mask.text(verdict.reason),
        warnings=tuple(mask.text(warning) for warning in verdict.warnings),
        signals=tuple(context.stop.signals),
        counts=stream.final.changes if stream.final else {},
        durations={"apply": round(applied.ended.seconds, 3), "plan": round(prepared.planned.ended.seconds, 3)},
        log=str(prepared.folder.events),
    )


def _left(context: Context, prepared: Prepared, held: Record, applied: Applied, verdict: Verdict, found: Found) -> End:
    """What is there after an operation: state, outputs, objects; all as before when nothing ran."""
    outcome, status = verdict.outcome, verdict.status
    if outcome is Outcome.CANCELLED:
        return End(outcome, status, held.state, held.outputs, held.objects)
    state = found if isinstance(found, EngineState) else None
    return End(
        outcome,
        status,
        state=mark_of(prepared.engine, state) if state else held.state,
        outputs=outputs_after(
            succeeded=outcome is Outcome.SUCCEEDED and not context.options.plan.targets,
            declared=prepared.module.interface.outputs,
            output_changes=prepared.planned.stream.output_changes,
            before=held.outputs,
            state_before=prepared.state,
            state_after=None if outcome is Outcome.UNKNOWN else state,
        ),
        # The refresh of the plan may have found that an object is gone.
        objects=objects_after(held.objects, replace(applied.stream, drifted=prepared.planned.stream.drifted), found),
    )
