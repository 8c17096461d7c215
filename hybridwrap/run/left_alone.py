"""What a teardown leaves alone, and why: nothing is written here, and no plan is made."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.status import Status
from hybridwrap.domain.teardown import in_the_way
from hybridwrap.domain.transitions import held_by
from hybridwrap.errors import EngineFailed, OutcomeUnknown, PreflightRefused
from hybridwrap.run.context import Context
from hybridwrap.run.protected import protected_parts

REFUSED = PreflightRefused.exit_code
NOT_ALL_GONE = EngineFailed.exit_code  # of what was to go and did not


class Wishes(Struct, frozen=True):
    """What the caller of a teardown asked for beyond the options of every run."""

    alone: frozenset[str] = frozenset()  # torn down by themselves, also when they would go with an owner
    keep_protected: bool = False
    import_known: bool = False
    current_inputs: bool = False  # as the manifest has them, not as recorded


class Teardown(Struct, frozen=True):
    """One teardown. `before` has what goes before what, over the whole stack and all that the ledger knows."""

    context: Context
    wishes: Wishes
    modules: tuple[str, ...]  # in the order in which they go
    before: Mapping[str, tuple[str, ...]]
    owned: Mapping[str, str]  # module -> the owner that it goes with


def left_alone(down: Teardown, name: str, record: Record) -> ModuleEnd | None:
    """End a module that this teardown does not touch; None for one that it does."""
    if record.settled is Status.RETAINED:
        return ModuleEnd("retained", reason=record.reason)
    if name in down.owned:
        return _not_with_its_owner(down, name, record)
    if others := _in_the_way_of(down, name):
        first = others[0].split()[0]
        hint = f"hybridwrap destroy {down.context.tools.stack.named(name)} --with-dependents"
        return ModuleEnd("kept", REFUSED, reason=f"teardown waits for {', '.join(others)}", hint=hint, waits_for=first)
    if not in_the_way(record):
        return _nothing_there(down.context, name, record)
    if protected := protected_parts(down.context, name):
        return ModuleEnd("kept", NOT_ALL_GONE, reason=f"protected: {', '.join(protected)}")
    return None


def nothing_there(record: Record) -> ModuleEnd:
    return ModuleEnd("unchanged", reason="never applied" if record.settled is Status.NONE else "destroyed already")


def _in_the_way_of(down: Teardown, name: str) -> tuple[str, ...]:
    """Modules outside of this run that must be gone before."""
    others = {n: down.context.knowledge.record(n) for n in down.before[name] if n not in down.modules}
    return tuple(f"{n} ({held_by(r) if r.holder else r.settled})" for n, r in others.items() if in_the_way(r))


def _not_with_its_owner(down: Teardown, name: str, record: Record) -> ModuleEnd | None:
    owner = down.owned[name]
    if not in_the_way(record):
        return nothing_there(record)
    if owner in down.modules or not in_the_way(down.context.knowledge.record(owner)):
        return None
    reason = f"teardown waits for its owner {owner}, which is not part of it"
    return ModuleEnd(
        "kept",
        REFUSED,
        reason=reason,
        hint=f"hybridwrap destroy {down.context.tools.stack.named(name)}",
        waits_for=owner,
    )


def _nothing_there(context: Context, name: str, record: Record) -> ModuleEnd | None:
    """End a module that the ledger has nothing of, unless its engine has: that is looked at without an init."""
    module = context.tools.stack.modules[name]
    try:
        state = context.tools.engines.at(module).state() if module.source.is_dir() else None
    except OutcomeUnknown:
        return None  # only an engine that is initialised can tell
    return None if state and state.instances else nothing_there(record)
