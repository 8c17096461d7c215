"""Plan the destruction of one module, or say why there is nothing to destroy or nothing that may be begun."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hybridwrap.domain.command_failed import CommandFailed
from hybridwrap.domain.entry import Retain
from hybridwrap.domain.failure_kinds import NO_STATE, kind_of, protected_by_source
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.status import Status
from hybridwrap.domain.teardown import in_the_way
from hybridwrap.domain.transitions import held_by
from hybridwrap.run.adopt import adopted_on_the_way
from hybridwrap.run.context import Context
from hybridwrap.run.open_ends import close_open_ends
from hybridwrap.run.owned import settle_owned
from hybridwrap.run.preparation import Prepared, prepare
from hybridwrap.run.protected import protected_parts
from hybridwrap.run.teardown_inputs import teardown_inputs
from hybridwrap.run.teardown_source import with_source
from hybridwrap.run.turn import wait_for_turn


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the caller of a teardown asked for beyond the options of every run."""

    alone: frozenset[str] = frozenset()  # torn down by themselves, also when they would go with an owner
    keep_protected: bool = False
    import_known: bool = False
    current_inputs: bool = False  # as the manifest has them, not as recorded


@dataclass(frozen=True, slots=True)
class Teardown:
    """One teardown. `before` has what goes before what, over the whole stack and all that the ledger knows."""

    context: Context
    wishes: Wishes
    modules: tuple[str, ...]  # in the order in which they go
    before: Mapping[str, tuple[str, ...]]
    owned: Mapping[str, str]  # module -> the owner that it goes with


def planned(down: Teardown, name: str) -> Prepared | ModuleEnd:
    """Plan a module's destruction, or end it where there is nothing to do, or nothing that may be done."""
    context, wishes = down.context, down.wishes
    record = wait_for_turn(context, name)
    if end := _without_engine(down, name, record):
        return end
    module = with_source(context, name, record)
    inputs = teardown_inputs(context, module, replace(record, inputs={}) if wishes.current_inputs else record)
    close_open_ends(context, module, inputs, import_known=wishes.import_known)
    try:
        return adopted_on_the_way(context, prepare(context, module, inputs))
    except CommandFailed as error:
        if protected := protected_by_source(error.stream.errors):
            return _kept(f"protected by prevent_destroy: {', '.join(protected)}", 4)
        raise _with_a_way_out(name, error) from error


def _without_engine(down: Teardown, name: str, record: Record) -> ModuleEnd | None:
    """End a module for which no engine has to be started."""
    if record.settled is Status.RETAINED:
        return ModuleEnd("retained", reason=record.reason)
    if name in down.owned:
        return _with_its_owner(down, name, record)
    if others := _in_the_way_of(down, name):
        hint = f"hybridwrap destroy {name} --with-dependents"
        return replace(_kept(f"teardown waits for {', '.join(others)}", 10), hint=hint, waits_for=others[0].split()[0])
    return _spared(down.context, record) if in_the_way(record) else _nothing_known(down.context, name, record)


def _spared(context: Context, record: Record) -> ModuleEnd | None:
    if protected := protected_parts(context, record.module):
        return _kept(f"protected: {', '.join(protected)}", 4)
    if context.tools.stack.modules[record.module].on_destroy != "retain":
        return None
    reason = "on_destroy: retain"
    context.knowledge.learn(context.tools.ledger.retain(record, Retain(context.run, reason)))
    return ModuleEnd("retained", reason=reason)


def _in_the_way_of(down: Teardown, name: str) -> tuple[str, ...]:
    """Modules outside of this run that must be gone before."""
    others = {n: down.context.knowledge.record(n) for n in down.before[name] if n not in down.modules}
    return tuple(f"{n} ({held_by(r) if r.holder else r.settled})" for n, r in others.items() if in_the_way(r))


def _with_its_owner(down: Teardown, name: str, record: Record) -> ModuleEnd:
    owner = down.owned[name]
    if not in_the_way(record):
        return ModuleEnd("unchanged", reason=f"already {record.settled}")
    if owner not in down.modules and in_the_way(down.context.knowledge.record(owner)):
        end = _kept(f"teardown waits for its owner {owner}, which is not part of it", 10)
        return replace(end, hint=f"hybridwrap destroy {name}", waits_for=owner)
    return settle_owned(down.context, name)


def _nothing_known(context: Context, name: str, record: Record) -> ModuleEnd | None:
    """End a module that the ledger has nothing of, unless its engine has; init may not even be possible any more."""
    module = context.tools.stack.modules[name]
    state = context.tools.engines.at(module).state() if module.source.is_dir() else None
    if state and state.instances:
        return None  # adopted on the way
    return ModuleEnd("unchanged", reason="never applied" if record.settled is Status.NONE else "destroyed already")


def _kept(reason: str, exit_code: int) -> ModuleEnd:
    return ModuleEnd("kept", exit_code, reason=reason)


def _with_a_way_out(name: str, error: CommandFailed) -> CommandFailed:
    """Offer what may help when a destruction can't be planned."""
    kind = kind_of(error.stream.errors)
    where = ", ".join(e.address for e in error.stream.errors if e.address)
    repair = f"{kind} ({where}): repair that" if kind == NO_STATE and where else "repair it"
    failed = CommandFailed(error.message, ended=error.ended, stream=error.stream)
    failed.hint = f"{repair}, or hybridwrap destroy {name} -refresh=false    as the state has it, without a look"
    return failed
