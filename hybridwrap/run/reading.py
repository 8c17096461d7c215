"""From what an engine did to what the ledger keeps of it."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.entry import End
from hybridwrap.domain.outcome import Seen, judge
from hybridwrap.domain.outcome_table import STALE_PLAN, Again
from hybridwrap.domain.ports import Applied
from hybridwrap.domain.record import Record
from hybridwrap.domain.state import EngineState
from hybridwrap.run.absence import concluded
from hybridwrap.run.account import Account, advice, as_end
from hybridwrap.run.context import Context
from hybridwrap.run.deadline import overdue
from hybridwrap.run.masking import mask_of
from hybridwrap.run.preparation import Prepared, state_again
from hybridwrap.run.rescue import rescue
from hybridwrap.run.state_lock import left_lock


class Reading(Struct, frozen=True):
    end: End
    again: Again
    stale_plan: bool = False
    warnings: tuple[str, ...] = ()  # for those who watch


def read_apply(context: Context, prepared: Prepared, held: Record, applied: Applied) -> Reading:
    """Judge an apply or destroy by its exit code, its events and the state read again; secrets are masked by value."""
    rescued = rescue(context, prepared.engine, prepared.folder, prepared.mark, applied)
    if rescued.told:
        context.watch.warning(prepared.module.name, rescued.told)
    found = state_again(prepared.engine)
    context.knowledge.learn_secrets(prepared.module.name, found if isinstance(found, EngineState) else None)
    verdict = judge(
        Seen(
            command=context.options.command,
            ended=applied.ended,
            stream=applied.stream,
            before=prepared.state,
            after=found,
            errored_state=applied.errored_state is not None,
            rescued=rescued.done,
            previous=held.settled,
        )
    )
    account = Account(
        held=held,
        engine=prepared.engine,
        declared=prepared.module.interface.outputs,
        planned=prepared.planned.stream,
        whole=not context.options.plan.targets,
        before=prepared.state,
        applied=applied,
        found=found,
        verdict=verdict,
        mask=mask_of(context, prepared.inputs),
    )
    body = replace(as_end(account), kept=rescued.kept, evidence=(rescued.told,) if rescued.told else ())
    lock = left_lock(context, prepared.engine, held, verdict, applied.stream)
    body = _seen_by_us(replace(body, state_lock=lock), context, prepared, applied)
    if verdict.absence:
        body = concluded(context, prepared.module, held, body, verdict.absence, account.mask)
    aside = advice(account)
    told = tuple(warning for warning in body.warnings if warning not in aside)
    return Reading(body, verdict.again, verdict.row == STALE_PLAN, told)


def _seen_by_us(body: End, context: Context, prepared: Prepared, applied: Applied) -> End:
    """Add what only the hybridwrap that was there can tell."""
    time_up = overdue(context.stop, prepared.module, applied.ended)
    seconds = {context.options.command: applied.ended.seconds, "plan": prepared.planned.ended.seconds}
    return replace(
        body,
        reason=f"{body.reason}; {time_up}" if time_up else body.reason,
        signals=tuple(context.stop.signals),
        durations={what: round(took, 3) for what, took in seconds.items()},
        log=str(prepared.folder.events),
    )
