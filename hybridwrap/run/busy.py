"""Who keeps a module busy, and what to type about it."""

from __future__ import annotations

from hybridwrap.domain.command_failed import CommandFailed
from hybridwrap.domain.left_behind import Liveness
from hybridwrap.domain.record import Record
from hybridwrap.domain.transitions import held_by
from hybridwrap.errors import ModuleBusy, StateLocked
from hybridwrap.run.context import Context, Patience


def refuse_busy(context: Context, record: Record) -> None:
    if record.holder:
        raise busy(context, record, context.tools.folders.look(record.holder.locks))


def holder_in_words(record: Record, found: Liveness, told: str = "") -> str:
    """Who holds a module and in which job, what its locks prove, and what else is `told` of it."""
    job = f", {record.holder.writer.ci_url}" if record.holder and record.holder.writer.ci_url else ""
    return "; ".join(filter(None, (f"{held_by(record)}{job}", str(found), told)))


def busy(context: Context, record: Record, found: Liveness, told: str = "") -> ModuleBusy:
    """Say who holds a module, what its locks prove, and what to type."""
    patience = context.options.patience
    again = once_free(patience)
    hints = {
        Liveness.DEAD: "hybridwrap sync",
        Liveness.ENGINE: again if patience.for_engine else "the same command without --no-wait",
        Liveness.RUNNER: again,
        Liveness.NOT_VISIBLE: f"{again}; hybridwrap unlock {record.module}    shows who holds it",
    }
    return ModuleBusy(f"{record.module} is busy: {holder_in_words(record, found, told)}", hint=hints[found])


def refuse_locked(context: Context, name: str, error: CommandFailed) -> None:
    """Tell a state that somebody else has locked from a failure."""
    lock = next((told.lock for told in error.stream.errors if told.lock), None)
    if lock:
        raise locked(context, f"{name} is busy: the engine's state lock is held by {lock}") from error


def locked(context: Context, message: str) -> StateLocked:
    return StateLocked(message, hint=once_free(context.options.patience))


def once_free(patience: Patience) -> str:
    return "the same command with --wait" if patience.offered else "once it is free: the same command again"
