"""Look at one module without changing anything: its record, its host, its state and lock, and what a plan says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain import guard, rescue
from hybridwrap.domain.declared import module_from
from hybridwrap.domain.duration import in_words
from hybridwrap.domain.engine_run import Stream
from hybridwrap.domain.entry import Begin, CloudObject, End
from hybridwrap.domain.inputs import ResolvedInputs
from hybridwrap.domain.last_operation import LastOperation, last_operation
from hybridwrap.domain.look import Look, seen_in
from hybridwrap.domain.open_objects import accounted, sort_open
from hybridwrap.domain.partial import objects_after, taken_out
from hybridwrap.domain.ports import ModuleEngine
from hybridwrap.domain.record import Record
from hybridwrap.domain.stack import Module
from hybridwrap.domain.state import EngineState, Found, Unreadable, instances_of
from hybridwrap.domain.state_lock import StateLock
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.errors import HybridwrapError, StateUnreadable, Stopped
from hybridwrap.run.context import Context
from hybridwrap.run.here import kept_results
from hybridwrap.run.identity import take_identity
from hybridwrap.run.kept import Kept, find_kept
from hybridwrap.run.names import names_in
from hybridwrap.run.needs import resolve
from hybridwrap.run.plan_to_look import plan_to_look
from hybridwrap.run.preparation import Prepared, mark_of

IMPORT = "import"  # what the ledger calls an operation that imports
_NO_STEPS = Stream()
ELSEWHERE = "look there, in that checkout"


class Seen(Struct, frozen=True):
    """What a look brought, with what it takes to act on it."""

    look: Look
    engine: ModuleEngine | None = None
    inputs: ResolvedInputs | None = None
    prepared: Prepared | None = None  # where there is a plan; its folder is gone, it can't be applied
    kept: Kept | None = None
    last: LastOperation | None = None
    objects: tuple[CloudObject, ...] = ()  # all that are known, what the state accounts for closed


def look_at(context: Context, name: str, *, inputs: ResolvedInputs | None = None, with_kept: bool = True) -> Seen:
    """Look at a module. Raise Stopped, LedgerUnreachable, LedgerDamaged; all else that goes wrong is in the look.

    `inputs` are those to plan with; without them those of the manifest, or the recorded ones where it gives none. Not
    `with_kept`: as if there was no state that could not be saved.
    """
    record = context.knowledge.record(name)
    stack = context.tools.stack
    orphan = name not in stack.modules or name in stack.orphans
    look = Look(record, orphan=orphan, unsent=name in kept_results(context.tools).values())
    if record.damage:  # what the state has can't be compared with anything
        return Seen(look)
    if record.holder:
        return Seen(replace(look, liveness=context.tools.folders.look(record.holder.locks)))
    module = _module(context, record)
    if module is None:
        return Seen(replace(look, obstacle="it is not in the manifest, and not recorded how it was declared"))
    look = replace(look, source_gone=context.tools.stack.root.is_dir() and not module.source.is_dir())
    given = inputs or _inputs(context, module, record)
    try:
        engine = context.tools.engines.at(module, given.values if isinstance(given, ResolvedInputs) else {})
        take_identity(context, module, engine)
        if engine.place.backend == "local" and not context.tools.stack.root.is_dir():
            return Seen(replace(look, obstacle=f"it lies in the checkout of {record.by}", obstacle_hint=ELSEWHERE))
        _settle(context, engine, record)
        kept = find_kept(context, record, engine) if with_kept else None
        return _seen(context, replace(look, names=_names(context, record)), (module, engine, given), kept)
    except Stopped:
        raise
    except HybridwrapError as error:
        return Seen(replace(look, obstacle=error.message, obstacle_hint=error.hint))


def _module(context: Context, record: Record) -> Module | None:
    stack = context.tools.stack
    if record.module in stack.modules:
        return stack.modules[record.module]
    declared = record.last_declared
    return module_from(record.module, declared, stack) if declared else None


def _inputs(context: Context, module: Module, record: Record) -> ResolvedInputs | str:
    """The inputs as the manifest has them, else as they are recorded, else why there are none."""
    if not context.tools.stack.root.is_dir():
        return "there is no checkout here"
    if not module.source.is_dir():
        return f"its folder {module.source} is not there"
    if module.name in context.tools.stack.modules:
        try:
            resolved = resolve(context, module.name)
        except HybridwrapError as error:
            why = error.message
        else:
            if isinstance(resolved, ResolvedInputs):
                return resolved
            why = f"it waits: {resolved.reason}"
    else:
        why = "it is not in the manifest"
    if not record.inputs or any(kept.sensitive or kept.reference for kept in record.inputs.values()):
        return why
    return ResolvedInputs({name: kept.value for name, kept in record.inputs.items()}, record.inputs)


def _settle(context: Context, engine: ModuleEngine, record: Record) -> None:
    """Wait until no state that a killed engine has sent can be on its way any more. Raise Stopped.

    An engine that has released its lock has waited for its own writes; the local file system keeps nothing back.
    """
    if record.outcome is not Outcome.UNKNOWN or engine.place.backend == "local":
        return
    lock = engine.state_lock()
    left = isinstance(lock, Unreadable) or (lock is not None and lock.id == record.state_lock)
    age = (context.tools.clock.now() - datetime.fromisoformat(record.since)).total_seconds()
    rest = context.tools.settle_seconds - max(age, 0.0)
    if not left or rest <= 0:
        return
    context.watch.warning(
        record.module, f"waiting {in_words(round(rest))}: a state that its killed engine sent may still be on its way"
    )
    if not context.stop.wait(rest):
        raise Stopped(context.stop.reason)


def _names(context: Context, record: Record) -> Mapping[str, str]:
    """The names of open objects, where the folder of their operation is on this host."""
    folder = context.tools.folders.open(Path(record.log).parent) if record.log else None
    if folder is None:
        return {}
    try:
        return names_in(folder)
    finally:
        folder.release()


def _seen(
    context: Context, look: Look, at: tuple[Module, ModuleEngine, ResolvedInputs | str], kept: Kept | None
) -> Seen:
    module, engine, given = at
    record, found, lock = look.record, _state(engine), engine.state_lock()
    state = found if isinstance(found, EngineState) else None
    look = replace(
        look,
        found=found,
        comparison=guard.compare_with(
            record, mark_of(engine, state), instances_of(found), moved=context.options.state_moved
        ),
        lock=lock if isinstance(lock, StateLock) else None,
        kept=rescue.compare(kept.state, kept.before, found) if kept else None,
        kept_at=kept.at if kept else "",
    )
    planned = plan_to_look(context, look, module, engine, given)
    prepared = planned if isinstance(planned, Prepared) else None
    stream = prepared.planned.stream if prepared else _NO_STEPS
    instances = instances_of(found) or ()
    objects = accounted(objects_after(_still_ours(look), stream, found), instances)
    last = _last(context, record)
    look = replace(
        look,
        plan=seen_in(stream.planned, stream.drifted, changes=prepared.planned.changes) if prepared else None,
        obstacle=planned if isinstance(planned, str) else "",
        open=(still_open := sort_open(objects, instances)),
        not_imported=_not_imported(context, record) if still_open.any else frozenset(),
        nothing_begun=_nothing_begun(look, last),
    )
    return Seen(look, engine, given if isinstance(given, ResolvedInputs) else None, prepared, kept, last, objects)


def _still_ours(look: Look) -> Sequence[CloudObject]:
    """The objects of the record; what is not in a state that somebody else has written since is his business."""
    record, later = look.record, look.comparison is not None and look.comparison.match is guard.Match.ADVANCED
    return taken_out(record.objects, look.found) if record.status is Status.OK and later else record.objects


def _state(engine: ModuleEngine) -> Found:
    """The state as it lies there. Raise OutcomeUnknown when nobody can look there now."""
    try:
        return engine.state()
    except StateUnreadable as error:
        return Unreadable(error.message)


def _last(context: Context, record: Record) -> LastOperation | None:
    if record.status is not Status.UNKNOWN:
        return None
    return last_operation(context.tools.ledger.history(record.module), record.operation)


def _not_imported(context: Context, record: Record) -> frozenset[str]:
    """What the engine refused to import when that was tried last; nothing was changed by it, so no record tells."""
    match [entry.body for entry in context.tools.ledger.history(record.module)[-2:]]:
        case [Begin(command=command), End(errors=errors)] if command == IMPORT:
            return frozenset(error.address for error in errors)
    return frozenset()


def _nothing_begun(look: Look, last: LastOperation | None) -> bool:
    if last is None or look.comparison is None or last.status in (Status.UNKNOWN, Status.RUNNING):
        return False
    return last.untouched and look.comparison.found == last.before
