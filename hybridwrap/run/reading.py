"""From what an engine did to what the ledger keeps of it."""

from __future__ import annotations

from dataclasses import dataclass

from hybridwrap.domain.entry import End
from hybridwrap.domain.outcome import Seen, Verdict, judge
from hybridwrap.domain.outcome_table import Again
from hybridwrap.domain.partial import objects_after, outputs_after
from hybridwrap.domain.ports import Applied
from hybridwrap.domain.record import Record
from hybridwrap.domain.state import EngineState
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
    state = found if isinstance(found, EngineState) else None
    context.knowledge.learn_secrets(prepared.module.name, state)
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
    return Reading(_end(context, prepared, held, applied, verdict, state), verdict.again)


def _end(
    context: Context, prepared: Prepared, held: Record, applied: Applied, verdict: Verdict, state: EngineState | None
) -> End:
    mask = mask_of(context, prepared.inputs)
    stream = applied.stream
    good = verdict.outcome is Outcome.SUCCEEDED
    if verdict.outcome is Outcome.CANCELLED:
        outputs, objects = held.outputs, held.objects
    else:
        outputs = outputs_after(
            succeeded=good and not context.options.plan.targets,
            declared=prepared.module.interface.outputs,
            output_changes=prepared.planned.stream.output_changes,
            before=held.outputs,
            state_before=prepared.state,
            state_after=state,
        )
        objects = objects_after(held.objects, stream, state)
    return End(
        outcome=verdict.outcome,
        status=verdict.status,
        state=mark_of(prepared.engine, state) if state else held.state,
        outputs=outputs,
        objects=objects,
        failed_command=() if good else applied.ended.argv,
        errors=tuple(mask.diagnostic(error) for error in stream.errors),
        reason=mask.text(verdict.reason),
        warnings=tuple(mask.text(warning) for warning in verdict.warnings),
        signals=tuple(context.stop.signals),
        counts=stream.final.changes if stream.final else {},
        durations={"apply": round(applied.ended.seconds, 3), "plan": round(prepared.planned.ended.seconds, 3)},
        log=str(prepared.folder.events),
    )
