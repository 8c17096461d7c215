"""Finds a state that an engine could not save: on this host, in the module's folder, or in the ledger."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from hybridwrap.domain.codec import digest_of
from hybridwrap.domain.entry import StateMark
from hybridwrap.domain.ports import ModuleEngine
from hybridwrap.domain.record import Record
from hybridwrap.domain.rescue import belongs
from hybridwrap.domain.state import EngineState
from hybridwrap.errors import HybridwrapError, StateUnreadable
from hybridwrap.run.context import Context
from hybridwrap.run.rescue import UNSAVED


class Kept(Struct, frozen=True):
    """`data` is byte for byte what the engine would have saved: it holds secrets."""

    data: bytes
    state: EngineState
    at: str
    before: StateMark  # what its operation was planned on, or saved on the way


def find_kept(context: Context, record: Record, engine: ModuleEngine) -> Kept | None:
    """Find the state that a module's last operation could not save. None when there is none, or none to be had here."""
    found = _recorded(context, record, engine) if record.kept else _left_in_folder(context, record, engine)
    if found is None:
        return None
    data, at = found
    try:
        state = engine.repair.parse(data)
    except StateUnreadable:
        return None
    return Kept(data, state, at, record.state or StateMark(engine.place))


def _recorded(context: Context, record: Record, engine: ModuleEngine) -> tuple[bytes, str] | None:
    kept = record.kept
    if kept is None:
        return None
    for data, at in (
        (_in_its_folder(context, kept.path), kept.path),
        (engine.repair.unsaved_state(), "errored.tfstate in the module's folder"),
        (_in_the_ledger(context, kept.blob), f"blob {kept.blob} of the ledger"),
    ):
        if data is not None and digest_of(data) == kept.digest:
            return data, at
    return None


def _in_its_folder(context: Context, path: str) -> bytes | None:
    folder = context.tools.folders.open(Path(path).parent) if path else None
    if folder is None:
        return None
    try:
        return folder.kept(UNSAVED)
    finally:
        folder.release()


def _in_the_ledger(context: Context, blob: str) -> bytes | None:
    try:
        return context.tools.ledger.get_blob(blob) if blob else None
    except HybridwrapError as error:
        context.watch.note(error.message)
        return None


def _left_in_folder(context: Context, record: Record, engine: ModuleEngine) -> tuple[bytes, str] | None:
    """A state that lies in the module's folder and that no record speaks of; modules may share the folder."""
    data = engine.repair.unsaved_state()
    if data is None:
        return None
    lineage = record.state.lineage if record.state else ""
    modules = context.tools.stack.modules
    source = modules[record.module].source if record.module in modules else None
    alone = sum(module.source == source for module in modules.values()) == 1
    try:
        ours = alone or belongs(engine.repair.parse(data), lineage, record.objects)
    except StateUnreadable:
        return None
    return (data, "errored.tfstate in the module's folder") if ours else None
