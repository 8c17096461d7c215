"""Before a teardown: what was made and is in no state, so that no destroy of the engine's would reach it."""

from __future__ import annotations

from hybridwrap.domain.absence import name_objects
from hybridwrap.domain.inputs import ResolvedInputs
from hybridwrap.domain.open_objects import Open, sort_open
from hybridwrap.domain.record import Record
from hybridwrap.domain.stack import Module
from hybridwrap.domain.status import Status
from hybridwrap.errors import OutcomeUnknown
from hybridwrap.run.context import Context
from hybridwrap.run.preparation import look


def close_open_ends(context: Context, module: Module, inputs: ResolvedInputs, *, import_known: bool) -> None:
    """Bring into the state what is known to have been made; learn how the module stands then.

    Raise OutcomeUnknown, with all that is open, where that was not asked for.
    """
    record = context.knowledge.record(module.name)
    if record.kept:
        raise OutcomeUnknown(
            f"{record.module}: a state that its engine could not save is not back in its place",
            hint=f"hybridwrap reconcile {record.module}",
        )
    if not any(o.open for o in record.objects):
        return
    engine = context.tools.engines.at(module, inputs.values)
    state, _ = look(context, engine, record)
    found = sort_open(record.objects, state.instances if state else ())
    if record.settled is Status.UNKNOWN and found.any and not import_known:
        raise OutcomeUnknown(_told(record, found), hint=f"hybridwrap destroy {record.module} --import-known")


def _told(record: Record, found: Open) -> str:
    parts = {"made": (*found.importable, *found.displaced), "begun": found.unanswered, "unfinished": found.unfinished}
    lines = [f"  {what:<12}{name_objects(objects)}" for what, objects in parts.items() if objects]
    head = f"{record.module} was not touched: its outcome is unknown, and its state does not hold all that may be there"
    return "\n".join([head, *lines])
