"""Unlock a module on an operator's word: that an operation is dead, or a lock on a state, where nothing proves it.

Keeps: the word names one operation or one lock by its id; nothing is called done that only a word vouches for; the age
of a sign of life is shown, and decides nothing.
"""

from __future__ import annotations

from contextlib import ExitStack

from msgspec import Struct

from hybridwrap.domain.beat import Beat
from hybridwrap.domain.engine_run import LockInfo
from hybridwrap.domain.left_behind import Liveness
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.state import Unreadable
from hybridwrap.domain.state_lock import StateLock
from hybridwrap.errors import EngineNotUsable, ModuleBusy, OutcomeUnknown, PreflightRefused, UsageError
from hybridwrap.run.busy import busy, holder_in_words
from hybridwrap.run.context import Context, Tools
from hybridwrap.run.finish import earlier, finish, write_end
from hybridwrap.run.recording import take_over

ALIVE = frozenset({Liveness.RUNNER, Liveness.ENGINE})


class Hold(Struct, frozen=True):
    """Who holds a module and the engine's lock on its state, and what is known of them."""

    record: Record
    liveness: Liveness | None
    beats: tuple[Beat, ...]
    lock: StateLock | Unreadable | None


def look_at(tools: Tools, name: str) -> Hold:
    """Look; nothing is changed."""
    record = tools.ledger.record(name)
    holder = record.holder
    chain = {held.operation for held in (holder, *holder.took_over)} if holder else set()
    try:
        lock = tools.engines.at(tools.stack.modules[name]).state_lock()
    except (EngineNotUsable, OutcomeUnknown, PreflightRefused) as error:
        lock = Unreadable(error.message)
    return Hold(
        record=record,
        liveness=tools.folders.look(holder.locks) if holder else None,
        beats=tuple(beat for beat in tools.ledger.beats(name) if beat.operation in chain) if holder else (),
        lock=lock,
    )


def unlock(context: Context, name: str, operation: str, reason: str) -> ModuleEnd:
    """End the operation that holds a module, as somebody says that it is dead.

    Raise UsageError when another one holds it, ModuleBusy when it is alive or its state is locked by who knows whom.
    """
    record = context.knowledge.record(name)
    holder = record.holder
    if holder is None:
        return ModuleEnd("ok", reason=f"{name} is held by nobody")
    if holder.operation != operation:
        raise UsageError(f"{name} is held by {holder.operation}, not by {operation}", hint=f"hybridwrap unlock {name}")
    found = finish(context, record)
    if found in ALIVE:
        raise _alive(record, found)
    if found is Liveness.NOT_VISIBLE:
        end_on_word(context, record, reason)
    after = context.knowledge.record(name)
    return ModuleEnd("ok", operation=operation, reason=f"{name} is free: {after.status}, {after.reason}")


def _alive(record: Record, found: Liveness) -> ModuleBusy:
    """What is alive frees its module itself: there is nothing to unlock, nor will there be."""
    hints = {
        Liveness.ENGINE: "hybridwrap sync    waits for the engine, and records its end",
        Liveness.RUNNER: f"hybridwrap unlock {record.module}    shows whether it is at work still",
    }
    return ModuleBusy(f"{record.module} is not unlocked: {holder_in_words(record, found)}", hint=hints[found])


def end_on_word(context: Context, record: Record, reason: str, proven: frozenset[str] = frozenset()) -> None:
    """Take over from an operation that somebody says is dead, and end it; `proven` are ids of state locks of its own.

    Raise ModuleBusy when it is alive, or its state is locked by who knows whom.
    """
    folder = context.tools.folders.make(context.tools.ids.new())
    held = take_over(context, folder, record, reason)
    with ExitStack() as ours:
        ours.callback(folder.release)
        if held.holder is None:
            raise AssertionError(f"{held.module} was taken over")
        left = earlier(context, held.holder, ours)
        if isinstance(left, Liveness):
            raise busy(context, held, left)
        write_end(context, held, folder, left, proven)


def release_lock(context: Context, name: str, lock_id: str) -> ModuleEnd:
    """Release the engine's lock on a state, as somebody names it by its id.

    Raise UsageError when it is another one, ModuleBusy while an operation holds the module.
    """
    record = context.knowledge.record(name)
    if record.holder:
        found = context.tools.folders.look(record.holder.locks)
        if found in ALIVE:
            raise _alive(record, found)
        if found is not Liveness.DEAD:
            raise busy(context, record, found)
    engine = context.tools.engines.at(context.tools.stack.modules[name])
    lock = engine.state_lock()
    if lock is None:
        return ModuleEnd("ok", reason=f"the state of {name} is not locked")
    named = lock if isinstance(lock, StateLock) else StateLock(LockInfo(lock_id), str(engine.place))
    if named.id != lock_id:
        raise UsageError(f"the state of {name} has another lock: {named}", hint=f"hybridwrap unlock {name}")
    engine.release_state_lock(named)
    finish(context, record)  # what this lock may have held up
    return ModuleEnd("ok", reason=f"released {named}")
