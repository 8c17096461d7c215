"""Bring objects that were made, and are in no state, into the state: one by one, by id; nothing else is touched."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

from msgspec.structs import replace

from hybridwrap.domain.engine_run import Action, Diagnostic, PlannedChange
from hybridwrap.domain.entry import CloudObject, End
from hybridwrap.domain.open_objects import sort_open, with_ids
from hybridwrap.domain.ports import ModuleEngine, OperationFolder
from hybridwrap.domain.redaction import Redaction
from hybridwrap.domain.repair import Imported
from hybridwrap.domain.state import instances_of
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.domain.verdict import judge
from hybridwrap.errors import PreflightRefused
from hybridwrap.run.context import Context
from hybridwrap.run.looking import IMPORT, Seen
from hybridwrap.run.masking import mask_of
from hybridwrap.run.preparation import state_again
from hybridwrap.run.repairing import Acted, Repair, carry_out_repair, equipped
from hybridwrap.run.state_lock import clear_recorded


def import_open(context: Context, seen: Seen, ids: Mapping[str, str]) -> End:
    """Import what is open and has an id; `ids` are those that an operator found, by address.

    A state lock that our own dead engine left is released first. Raise PreflightRefused when there is nothing to
    import, or it can't be done here; for the rest see `carry_out_repair`.
    """
    engine, inputs = equipped(seen)
    objects = with_ids(seen.objects, ids)
    wanted = sort_open(objects, instances_of(seen.look.found) or ()).importable
    if not wanted:
        raise PreflightRefused(f"{seen.look.module}: there is nothing to import", hint=judge(seen.look).next)
    for o in wanted:
        context.watch.note(f"importing {o.address} by id {o.id}")
    clear_recorded(context, engine, seen.look.record)
    _get_ready(context, engine, seen)
    repair = Repair(
        command=IMPORT,
        engine=engine,
        inputs=inputs,
        objects=objects,
        act=lambda folder: _masked(_import(engine, folder, wanted, inputs.values), mask_of(context, inputs)),
        planned=tuple(PlannedChange(o.address, Action.IMPORT, o.type) for o in wanted),
    )
    return carry_out_repair(context, seen, repair)


def _get_ready(context: Context, engine: ModuleEngine, seen: Seen) -> None:
    """Initialise; a forked state in the module's folder, of which a copy is kept, is not in the way."""
    if seen.kept and seen.look.record.kept and seen.kept.at == seen.look.record.kept.path:
        engine.repair.forget_unsaved_state(seen.kept.data)
    folder = context.tools.folders.make(context.tools.ids.new())
    with ExitStack() as done:
        done.callback(folder.remove)
        engine.init(folder)


def _import(
    engine: ModuleEngine, folder: OperationFolder, wanted: tuple[CloudObject, ...], values: Mapping[str, object]
) -> Acted:
    before = _addresses(engine)
    tried = engine.repair.import_objects(folder, wanted, values)
    now_there = _addresses(engine) - before
    there = [o for o in wanted if o.address in now_there]
    failed = tuple(_error(one) for one in tried if one.object.address not in now_there)
    end = End(
        Outcome.SUCCEEDED,
        Status.UNKNOWN,
        failed_command=next((one.ended.argv for one in tried if one.told), ()),
        errors=failed,
        reason=f"imported {len(there)} of {len(wanted)} objects",
        evidence=tuple(f"imported {o.address} by id {o.id}" for o in there),
    )
    changes = tuple(PlannedChange(o.address, Action.IMPORT, o.type) for o in there)
    return Acted(len(there) == len(wanted), end, changes)


def _masked(acted: Acted, mask: Redaction) -> Acted:
    """Take secrets out of what a provider said against an import."""
    return replace(acted, end=replace(acted.end, errors=tuple(map(mask.diagnostic, acted.end.errors))))


def _addresses(engine: ModuleEngine) -> frozenset[str]:
    found = instances_of(state_again(engine)) or ()
    return frozenset(instance.address for instance in found if not instance.deposed)


def _error(one: Imported) -> Diagnostic:
    return Diagnostic("error", f"not imported by id {one.object.id}", one.told, one.object.address)
