"""Rename a module in the ledger; its state stays where it is.

Keeps: the record is under the new name before it is closed under the old one, so that nobody ever finds neither; and
only when the manifest puts the state of the new name where that of the old one lies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os.path import normpath, relpath
from pathlib import Path

from msgspec import Struct
from msgspec.structs import fields

from hybridwrap.domain.entry import Adopt, Carried, Entry, Moved, StateMark
from hybridwrap.domain.json import canonical
from hybridwrap.domain.ledger import FRESH
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd, RunEnd
from hybridwrap.domain.stack import FileLine, Stack
from hybridwrap.domain.state import StatePlace
from hybridwrap.domain.status import Status
from hybridwrap.domain.told_time import in_utc
from hybridwrap.errors import OutcomeUnknown, PreflightRefused, UsageError
from hybridwrap.run.context import Context, Tools
from hybridwrap.run.ends import guarded
from hybridwrap.run.recorded import recorded_run
from hybridwrap.run.turn import wait_for_turn

DEFAULT = "default"  # the engine's name for its first workspace


class Rename(Struct, frozen=True):
    """What is left to be written; `adopt` is None when the new name has the record already."""

    old: Record
    new: Record
    adopt: Adopt | None


def prepare_rename(context: Context, old: str, new: str, reason: str) -> Rename | None:
    """Look whether a module may be renamed; None when that is done already.

    Raise UsageError, ModuleBusy, OutcomeUnknown or PreflightRefused; nothing was written.
    """
    ledger = context.tools.ledger
    _refuse_names(context.tools, old, new)
    source, target = (_free(context, name) for name in (old, new))
    history = ledger.history(old)
    if history and _is_moved(history[-1], new):
        return None
    if source.settled in FRESH or source.state is None:
        raise UsageError(f"the ledger has nothing of {old} that could be renamed: it is {source.settled}")
    if source.settled is Status.UNKNOWN:
        raise OutcomeUnknown(
            f"{old}: its outcome is unknown; that has to be cleared up under the name that it was begun with",
            hint=f"hybridwrap reconcile {old}",
        )
    _refuse_other_place(context.tools, source.state, new, old)
    return Rename(source, target, _adoption(context, source, target, reason))


def rename(context: Context, todo: Rename, reason: str) -> RunEnd:
    """Write both entries; who is overtaken says so. Raise LedgerUnreachable before any of them."""
    name = todo.new.module

    def work() -> Mapping[str, ModuleEnd]:
        end = guarded(name, lambda _: _rename(context, todo, reason))
        context.watch.module_ended(name, end)
        return {name: end}

    return recorded_run(context, "mv", [name], work)


def _rename(context: Context, todo: Rename, reason: str) -> ModuleEnd:
    ledger, new = context.tools.ledger, todo.new
    if todo.adopt:
        new = ledger.adopt(new, todo.adopt)
        context.knowledge.learn(new)
    context.knowledge.learn(ledger.moved(todo.old, Moved(new.module, reason)))
    return ModuleEnd("ok", reason=f"{new.status}, as {todo.old.module} was; its state stays where it is")


def _free(context: Context, name: str) -> Record:
    """The record as the log has it now, once nobody holds the module. Raise ModuleBusy."""
    context.knowledge.learn(context.tools.ledger.record(name))
    return wait_for_turn(context, name)


def _refuse_names(tools: Tools, old: str, new: str) -> None:
    if new not in tools.stack.modules:
        raise UsageError(f"the manifest has no module {new}; rename it there first", hint="hybridwrap list")
    if old in tools.stack.modules:
        raise UsageError(f"the manifest still has a module {old}; rename it there first, then in the ledger")


def _is_moved(last: Entry, new: str) -> bool:
    return isinstance(last.body, Moved) and last.body.to == new


def _adoption(context: Context, source: Record, target: Record, reason: str) -> Adopt | None:
    """What the new name has to take in, None when it has it. Raise PreflightRefused when it has something else."""
    if source.state is None:
        raise AssertionError("what has no state is not renamed")
    begun = _from(context, target, source.module)
    if begun and begun["hash"] == source.tail:
        return None
    if target.settled not in FRESH and begun is None:
        if _has_taken_over(source, target):
            return None
        raise PreflightRefused(
            f"{target.module} has a record of its own: {target.settled} since {in_utc(target.since)}"
        )
    return Adopt(
        run=context.run,
        reason=reason,
        state=source.state,
        outputs=source.outputs,
        objects=source.objects,
        origin={"module": source.module, "seq": source.seq, "hash": source.tail},
        carried=_carried(source),
    )


def _from(context: Context, target: Record, old: str) -> Mapping[str, object] | None:
    """The origin of a record that came from the old name and on which nobody has acted since."""
    history = context.tools.ledger.history(target.module)
    last = history[-1].body if history else None
    return last.origin if isinstance(last, Adopt) and last.origin.get("module") == old else None


def _has_taken_over(source: Record, target: Record) -> bool:
    """Whether the new name goes on with the same state, and nothing is known under the old one alone."""
    was, now = source.state, target.state
    if was is None or now is None or any(thing.open for thing in source.objects):
        return False
    return (was.place, was.lineage) == (now.place, now.lineage) and was.serial <= now.serial


def _carried(record: Record) -> Carried:
    return Carried(**{field.name: getattr(record, field.name) for field in fields(Carried)})


def _refuse_other_place(tools: Tools, state: StateMark, new: str, old: str) -> None:
    place = tools.engines.place(tools.stack.modules[new]) or tools.engines.at(tools.stack.modules[new]).place
    if place == state.place:
        return
    stack = tools.stack
    where = f"modules.{new}" if len(stack.environments) == 1 else f"environments.{stack.environment}.modules.{new}"
    written = stack.modules[new].declared_at or FileLine(stack.file, 1)
    raise PreflightRefused(
        f"{new} would keep its state at {place}, but the state of {old} lies at {state.place}, and a rename leaves it "
        f"there\nwrite into {where} ({written.shown(stack.root)}): "
        f"{setting_for(state.place, relpath(stack.root, written.file.parent))}\nnothing was changed",
        hint=f"hybridwrap mv {old} {new}",
    )


def setting_for(place: StatePlace, root: str = ".") -> str:
    """What a manifest has to say so that a module's state lies in a place.

    `root` is the manifest's folder as seen from that of the file in which it is said.
    """
    path = normpath(Path(root, place.path)) if place.backend == "local" else place.path
    match place.backend:
        case "s3":
            key = path if place.workspace == DEFAULT else path.partition(f"/{place.workspace}/")[2]
            return f"state: {{s3: {{bucket: {_text(place.bucket)}, key: {_text(key)}}}}}"
        case "local" if place.workspace == DEFAULT:
            return f"state: {{local: {{path: {_text(path)}}}}}"
        case "local":
            folder = path.rpartition(f"/{place.workspace}/")[0]
            return f"state: {{local: {{workspace_dir: {_text(folder)}}}}}"
    return f"the settings of the {place.backend} backend that mean {path}"


def _text(value: str) -> str:
    return canonical(value).decode()


def moved_to(tools: Tools, records: Mapping[str, Record]) -> Mapping[str, str]:
    """Find undeclared modules whose state is now that of a declared one; by old name, the new one.

    Such a module was renamed in the manifest alone: it is no orphan.
    """
    undeclared = _undeclared(tools.stack, records)
    if not undeclared:
        return {}
    places = {name: _place(tools, records.get(name), name) for name in tools.stack.modules}
    return {undeclared[place]: name for name, place in places.items() if place in undeclared}


def _undeclared(stack: Stack, records: Mapping[str, Record]) -> Mapping[StatePlace | None, str]:
    """Modules that only the ledger knows and that still have something, by the places of their states."""
    return {
        record.state.place: name
        for name, record in records.items()
        if name not in stack.modules and record.state and (record.holder or record.settled not in FRESH)
    }


def _place(tools: Tools, record: Record | None, name: str) -> StatePlace | None:
    recorded = record.state.place if record and record.state and record.settled not in FRESH else None
    return recorded or tools.engines.place(tools.stack.modules[name])


def refuse_moved(tools: Tools, records: Mapping[str, Record], names: Iterable[str]) -> None:
    """Raise PreflightRefused for an undeclared module whose state is that of a declared one."""
    moved = moved_to(tools, records)
    for name in names:
        if name in moved:
            raise PreflightRefused(
                f"{name} is no orphan: {moved[name]} has its state now", hint=f"hybridwrap mv {name} {moved[name]}"
            )


def refuse_renamed(stack: Stack, records: Mapping[str, Record], name: str, place: StatePlace) -> None:
    """Stop before a module takes over, unseen, what the ledger knows under another name. Raise PreflightRefused."""
    old = _undeclared(stack, records).get(place)
    if old:
        raise PreflightRefused(
            f"{name}: its state is recorded as that of {old}, which the manifest has no more",
            hint=f"hybridwrap mv {old} {name}",
        )
