"""Plan the destruction of one module, or end it where there is nothing to do, or nothing that may be done."""

from __future__ import annotations

from msgspec.structs import replace

from hybridwrap.domain.command_failed import CommandFailed
from hybridwrap.domain.entry import Retain
from hybridwrap.domain.failure_kinds import NO_STATE, kind_of, protected_by_source
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.teardown import in_the_way
from hybridwrap.run.adopt import adopted_on_the_way
from hybridwrap.run.context import Context
from hybridwrap.run.left_alone import NOT_ALL_GONE, Teardown, left_alone, nothing_there
from hybridwrap.run.open_ends import close_open_ends
from hybridwrap.run.owned import settle_owned
from hybridwrap.run.preparation import Prepared, prepare
from hybridwrap.run.teardown_inputs import teardown_inputs
from hybridwrap.run.teardown_source import with_source
from hybridwrap.run.turn import wait_for_turn


def planned(down: Teardown, name: str) -> Prepared | ModuleEnd:
    """Plan what destroys a module; what needs no engine is done at once."""
    context = down.context
    record = wait_for_turn(context, name)
    if end := left_alone(down, name, record):
        return end
    if name in down.owned:
        return settle_owned(context, name)
    if _is_retained(context, record):
        return _retained(context, record)
    planned = planned_by_engine(down, name, record, import_known=down.wishes.import_known)
    return adopted_on_the_way(context, planned) if isinstance(planned, Prepared) else planned


def planned_by_engine(down: Teardown, name: str, record: Record, *, import_known: bool) -> Prepared | ModuleEnd:
    """Have the engine plan it, with all that it takes; nothing is written but what `import_known` asks for."""
    context = down.context
    module = with_source(context, name, record)
    known = replace(record, inputs={}) if down.wishes.current_inputs else record
    inputs = teardown_inputs(context, module, known)
    close_open_ends(context, module, inputs, import_known=import_known)
    try:
        prepared = prepare(context, module, inputs)
    except CommandFailed as error:
        if protected := protected_by_source(error.stream.errors):
            reason = f"protected by prevent_destroy: {', '.join(protected)}"
            return ModuleEnd("kept", NOT_ALL_GONE, reason=reason)
        raise _with_a_way_out(context.tools.stack.named(name), error) from error
    if not in_the_way(record) and not (prepared.state and prepared.state.instances):
        prepared.folder.remove()
        return nothing_there(record)
    return prepared


def _is_retained(context: Context, record: Record) -> bool:
    return in_the_way(record) and context.tools.stack.modules[record.module].on_destroy == "retain"


def _retained(context: Context, record: Record) -> ModuleEnd:
    reason = "on_destroy: retain"
    context.knowledge.learn(context.tools.ledger.retain(record, Retain(context.run, reason)))
    return ModuleEnd("retained", reason=reason)


def _with_a_way_out(named: str, error: CommandFailed) -> CommandFailed:
    """Offer what may help when a destruction can't be planned, unless that is known already."""
    if error.hint:
        return error
    kind = kind_of(error.stream.errors)
    where = ", ".join(e.address for e in error.stream.errors if e.address)
    repair = f"{kind} ({where}): repair that" if kind == NO_STATE and where else "repair it"
    failed = CommandFailed(error.message, ended=error.ended, stream=error.stream)
    failed.hint = f"{repair}, or hybridwrap destroy {named} -refresh=false    as the state has it, without a look"
    return failed
