"""Before a teardown: what was made and is in no state, so that no destroy of the engine's would reach it."""

from __future__ import annotations

from msgspec.structs import replace

from hybridwrap.domain.absence import name_objects
from hybridwrap.domain.inputs import ResolvedInputs
from hybridwrap.domain.open_objects import Open, accounted, sort_open
from hybridwrap.domain.record import Record
from hybridwrap.domain.stack import Module
from hybridwrap.domain.state import instances_of
from hybridwrap.domain.status import Status
from hybridwrap.errors import OutcomeUnknown
from hybridwrap.run.context import Context
from hybridwrap.run.identity import take_identity
from hybridwrap.run.imports import import_open
from hybridwrap.run.looking import look_at
from hybridwrap.run.preparation import look


def close_open_ends(context: Context, module: Module, inputs: ResolvedInputs, *, import_known: bool) -> None:
    """Bring into the state what is known to have been made; learn how the module stands then.

    Raise OutcomeUnknown, with all that is open, where that was not asked for, or not all of it was possible.
    """
    record = context.knowledge.record(module.name)
    if record.kept:
        raise OutcomeUnknown(
            f"{record.module}: a state that its engine could not save is not back in its place",
            hint=f"hybridwrap reconcile {record.module}",
        )
    if not any(o.open for o in record.objects):
        return
    found = _open(context, module, inputs, record)
    if record.settled is Status.UNKNOWN and found.any and not import_known:
        named = context.tools.stack.named(record.module)
        raise OutcomeUnknown(_told(record, found), hint=f"hybridwrap destroy {named} --import-known")
    if import_known and found.importable:
        _import(context, module, inputs)


def _open(context: Context, module: Module, inputs: ResolvedInputs, record: Record) -> Open:
    engine = context.tools.engines.at(module, inputs.values)
    take_identity(context, module, engine)
    state, _ = look(context, engine, record)
    instances = instances_of(state) or ()
    return sort_open(accounted(record.objects, instances), instances)


def _import(context: Context, module: Module, inputs: ResolvedInputs) -> None:
    """Import with the module as it is torn down: its folder may be another one than the manifest's."""
    stack = context.tools.stack
    here = replace(stack, modules={**stack.modules, module.name: module})
    context = replace(context, tools=replace(context.tools, stack=here))
    end = import_open(context, look_at(context, module.name, inputs=inputs), {})
    if end.errors:
        told = "; ".join(f"{error.address}: {error.detail or error.summary}" for error in end.errors)
        raise OutcomeUnknown(
            f"{module.name}: not all that was made could be imported: {told}",
            hint=f"hybridwrap reconcile {module.name}",
        )


def _told(record: Record, found: Open) -> str:
    parts = {
        "made": (*found.importable, *found.displaced, *found.strays),
        "begun": found.unanswered,
        "unfinished": found.unfinished,
    }
    lines = [f"  {what:<12}{name_objects(objects)}" for what, objects in parts.items() if objects]
    head = f"{record.module} was not touched: its outcome is unknown, and its state does not hold all that may be there"
    return "\n".join([head, *lines])
