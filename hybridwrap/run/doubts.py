"""What an apply does about doubts: it looks, goes on where nothing is in doubt, and makes nothing a second time."""

from __future__ import annotations

from hybridwrap.domain.engine_run import Action
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.inputs import ResolvedInputs
from hybridwrap.domain.open_objects import accounted
from hybridwrap.domain.partial import objects_after
from hybridwrap.domain.state import instances_of
from hybridwrap.domain.status import Status
from hybridwrap.errors import OutcomeUnknown
from hybridwrap.run.context import Context
from hybridwrap.run.preparation import Prepared

_MAKES = frozenset({Action.CREATE, Action.REPLACE})


def clear_doubts(context: Context, name: str, inputs: ResolvedInputs) -> None:
    """Look at a module whose outcome is unknown; record that all is applied, or nothing was begun, if that is certain.

    Raise OutcomeUnknown, with the command that reconcile would name, when it is not.
    """
    record = context.knowledge.record(name)
    if record.status is not Status.UNKNOWN:
        return
    from hybridwrap.domain.verdict import Verdict, judge
    from hybridwrap.run.looking import look_at
    from hybridwrap.run.verdicts import record_if_certain

    seen = look_at(context, name, inputs=inputs)
    judgement = judge(seen.look)
    if judgement.verdict in (Verdict.APPLIED, Verdict.NOT_BEGUN) and (now := record_if_certain(context, seen)):
        context.watch.warning(name, f"its outcome was unknown; now it is known: {now.reason}")
        return
    raise OutcomeUnknown(
        f"{name}: the outcome of {record.command} {record.operation} is unknown: {record.reason}", hint=judgement.next
    )


def refuse_to_make_again(prepared: Prepared) -> None:
    """Stop a plan that would make what one of our own operations may have made already. Raise OutcomeUnknown.

    What somebody else took out of the state is his business, and made again.
    """
    record = prepared.record
    in_doubt = [o for o in record.objects if o.open and not o.unfinished]
    found = objects_after(in_doubt, prepared.planned.stream, prepared.state)
    still_open = [o for o in accounted(found, instances_of(prepared.state) or ()) if o.open]
    made = {change.address for change in prepared.actions if change.action in _MAKES}
    again = ", ".join(_named(o) for o in still_open if o.address in made)
    if again:
        prepared.folder.remove()
        raise OutcomeUnknown(
            f"{record.module}: the plan would make again what may be there already: {again}",
            hint=f"hybridwrap reconcile {record.module}",
        )


def _named(o: CloudObject) -> str:
    return f"{o.address} ({o.id})" if o.id else o.address
