"""A state that the engine could not save: kept at once, put back where that is safe, never lost.

Keeps: a private copy lies in the operation's folder before anything is done with it, and goes away only when the state
in its place was read again and holds all of it.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.codec import digest_of
from hybridwrap.domain.entry import KeptState, StateMark
from hybridwrap.domain.ports import Applied, ModuleEngine, OperationFolder
from hybridwrap.domain.rescue import Comparison, Fit, compare
from hybridwrap.domain.state import EngineState
from hybridwrap.domain.state_lock import StateLock
from hybridwrap.errors import LedgerUnreachable, OutcomeUnknown
from hybridwrap.run.context import Context
from hybridwrap.run.preparation import mark_of, state_again

UNSAVED = "unsaved.tfstate"
RIVAL = "in-its-place.tfstate"


class Rescue(Struct, frozen=True):
    """What became of a state that was not saved: it is back in its place, or `kept`; neither when there was none."""

    done: bool = False
    kept: KeptState | None = None
    told: str = ""


def rescue(
    context: Context, engine: ModuleEngine, folder: OperationFolder, before: StateMark, applied: Applied
) -> Rescue:
    """Rescue the state that an apply could not save; `before` is the one that its plan was made on."""
    data = applied.errored_state or applied.stream.state_dump
    if data is None:
        return Rescue()
    kept = KeptState("", "", 0, digest_of(data), encrypted_blob(context, data))
    try:
        copy = folder.keep(UNSAVED, data)
        kept = replace(kept, path=str(copy))
        state = engine.repair.parse(data)
        kept = replace(kept, lineage=state.lineage, serial=state.serial)
        comparison = put_back(engine, copy, state, before)
    except OutcomeUnknown as error:
        return Rescue(kept=kept, told=f"the state that could not be saved is kept: {error.message}")
    if comparison.fit is not Fit.SAVED:
        kept = replace(kept, rival=_keep_rival(context, engine, folder))
        return Rescue(kept=kept, told=f"the state that could not be saved is kept at {copy}: {comparison.fit}")
    engine.repair.forget_unsaved_state(data)
    copy.unlink()
    return Rescue(done=True, told=_put_back(state, comparison))


def put_back(engine: ModuleEngine, copy: Path, kept: EngineState, before: StateMark) -> Comparison:
    """Put a kept state back if that is safe, and compare it with what lies in its place then.

    Raise OutcomeUnknown when it was safe and could not be done.
    """
    there = state_again(engine)
    comparison = compare(kept, before, there)
    if not comparison.safe:
        return comparison
    _refuse_locked(engine)
    engine.repair.put_back(copy, mark_of(engine, there if isinstance(there, EngineState) else None))
    after = compare(kept, before, state_again(engine))
    same_bytes = not kept.readable and engine.state_bytes() == copy.read_bytes()
    return replace(after, fit=Fit.SAVED) if same_bytes else after


def encrypted_blob(context: Context, data: bytes) -> str:
    """Keep bytes full of secrets in the ledger, too, if it encrypts; "" when it does not or can't be reached."""
    if context.tools.ledger.cipher is None:
        return ""
    try:
        return context.tools.ledger.put_blob(data)
    except LedgerUnreachable as error:
        context.watch.note(f"the state that could not be saved is on this host only: {error.message}")
        return ""


def _keep_rival(context: Context, engine: ModuleEngine, folder: OperationFolder) -> str:
    """Keep a copy of what lies in the state's place, too: one of the two will have to give way."""
    try:
        data = engine.state_bytes()
        if data is not None:
            folder.keep(RIVAL, data)
    except OutcomeUnknown:
        return ""
    return encrypted_blob(context, data) if data is not None else ""


def _refuse_locked(engine: ModuleEngine) -> None:
    lock = engine.state_lock()
    if isinstance(lock, StateLock) and lock.holds:
        raise OutcomeUnknown(f"the state in its place is locked: {lock}")


def _put_back(kept: EngineState, now: Comparison) -> str:
    serial = f", where it has serial {now.there.serial}" if isinstance(now.there, EngineState) else ""
    return f"the state that the engine could not save (serial {kept.serial}) was put back in its place{serial}"
