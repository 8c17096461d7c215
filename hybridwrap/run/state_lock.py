"""The engine's state lock that an operation of ours left behind: known by its id, released where that is proven."""

from __future__ import annotations

from hybridwrap.domain.engine_run import Stream
from hybridwrap.domain.outcome import Verdict
from hybridwrap.domain.ports import ModuleEngine
from hybridwrap.domain.record import Record
from hybridwrap.domain.state_lock import StateLock, was_held_in
from hybridwrap.domain.status import Outcome
from hybridwrap.errors import OutcomeUnknown, PreflightRefused
from hybridwrap.run.context import Context


def left_lock(context: Context, engine: ModuleEngine, held: Record, verdict: Verdict, stream: Stream) -> str:
    """The id of the lock that an engine left which has just ended, "" when there is none.

    One that it merely could not release is tried once more; that of a killed engine stays until whatever it sent last
    must have arrived.
    """
    if verdict.lock_to_clear:
        lock = StateLock(verdict.lock_to_clear, str(engine.place))
        return "" if release_own(context, engine, held.module, lock) else lock.id
    return left_by_killed(engine, stream) if verdict.outcome is Outcome.UNKNOWN else ""


def left_by_killed(engine: ModuleEngine, stream: Stream) -> str:
    """The id of a lock that the engine of the stream held and that is still there."""
    try:
        lock = engine.state_lock()
    except OutcomeUnknown:
        return ""
    return lock.id if isinstance(lock, StateLock) and was_held_in(stream, lock) else ""


def clear_recorded(context: Context, engine: ModuleEngine, record: Record) -> None:
    """Release the lock that the last operation is recorded to have left, if it is still there; not while looking."""
    if not record.state_lock or not context.tools.ledger.is_open:
        return
    lock = engine.state_lock()
    if isinstance(lock, StateLock) and lock.id == record.state_lock:
        release_own(context, engine, record.module, lock)


def release_own(context: Context, engine: ModuleEngine, module: str, lock: StateLock) -> bool:
    """Release a lock that is proven to be of an ended engine of ours; say it, and whether it worked."""
    try:
        engine.release_state_lock(lock)
    except (OutcomeUnknown, PreflightRefused) as error:
        context.watch.warning(module, f"its own state lock is left behind and can't be released: {error.message}")
        return False
    context.watch.warning(module, f"released its own state lock, which was left behind: {lock}")
    return True
