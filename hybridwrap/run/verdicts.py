"""Write down what a look has made certain, and nothing else."""

from __future__ import annotations

from msgspec.structs import replace

from hybridwrap.domain.engine_run import Action
from hybridwrap.domain.entry import Observe
from hybridwrap.domain.partial import outputs_after
from hybridwrap.domain.record import Record
from hybridwrap.domain.status import Status
from hybridwrap.domain.verdict import Verdict, judge
from hybridwrap.run.context import Context
from hybridwrap.run.looking import Seen
from hybridwrap.run.masking import mask_of, withheld
from hybridwrap.run.preparation import Prepared
from hybridwrap.run.unchanged import record_unchanged


def record_if_certain(context: Context, seen: Seen, *, reason: str = "") -> Record | None:
    """Record the verdict on a module if it is certain; return how it stands then. `reason` is an operator's.

    Raise SlotTaken or ModuleBusy when somebody acted on the module meanwhile, LedgerUnreachable.
    """
    judgement, prepared = judge(seen.look), seen.prepared
    if not judgement.certain or prepared is None:
        return None
    if judgement.verdict is Verdict.APPLIED:
        record_unchanged(context, prepared)
    else:
        not_begun = judgement.verdict is Verdict.NOT_BEGUN
        body = _nothing_begun(context, seen, prepared) if not_begun else _the_rest(context, seen, prepared)
        body = replace(body, reason=f"{body.reason}; {reason}" if reason else body.reason)
        context.knowledge.learn(context.tools.ledger.observe(prepared.record, body))
    return context.knowledge.record(prepared.module.name)


def _nothing_begun(context: Context, seen: Seen, prepared: Prepared) -> Observe:
    """The module is what it was before the operation that began nothing."""
    if seen.last is None:
        raise AssertionError("that nothing was begun is known from the entries of the operation")
    record = prepared.record
    return Observe(
        run=context.run,
        reason=f"{record.command} {record.operation} ended before it began anything",
        status=seen.last.status,
        state=prepared.mark,
        outputs=seen.last.outputs,
        objects=seen.objects,
        evidence=("nothing was begun since",) if seen.last.status is Status.DESTROYED else (),
    )


def _the_rest(context: Context, seen: Seen, prepared: Prepared) -> Observe:
    """All that was begun is accounted for; a plan shows what is left to do."""
    record = prepared.record
    quiet = {n: c for n, c in prepared.planned.stream.output_changes.items() if c.action is Action.NOOP}
    outputs = outputs_after(
        succeeded=False,
        declared=prepared.module.interface.outputs,
        output_changes=quiet,  # what the plan leaves as it is, is known; all else is still going to change
        before=record.outputs,
        state_before=None,
        state_after=prepared.state,
    )
    return Observe(
        run=context.run,
        reason="all that was begun is accounted for; a plan shows what is left to do",
        status=Status.ERROR,
        state=prepared.mark,
        outputs=withheld(mask_of(context, prepared.inputs), outputs),
        objects=seen.objects,
    )
