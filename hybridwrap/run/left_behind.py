"""What a writing command does before anything else: finish what dead operations of this stack left on this host.

Keeps: it waits for nobody who is alive; what cannot be finished now is said, and stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hybridwrap.domain.codec import decode
from hybridwrap.domain.entry import End, Kind
from hybridwrap.domain.left_behind import Claim, Unfinished
from hybridwrap.domain.partial import objects_after
from hybridwrap.domain.ports import LeftFolder
from hybridwrap.domain.record import Record, sound
from hybridwrap.domain.result import Result
from hybridwrap.domain.state import Unreadable
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.errors import HybridwrapError
from hybridwrap.run.context import Context
from hybridwrap.run.here import claims_here


def finish_left_behind(context: Context) -> tuple[str, ...]:
    """Finish whatever can be finished without waiting for the living, and say so; say what could not be, too.

    Return the operations of which nothing was to be finished: their plans and inputs are removed.
    """
    claims = tuple(claims_here(context.tools))
    for name in {claim.module for _, claim in claims}:
        with _said(context, name):
            context.knowledge.learn(context.tools.ledger.record(name))  # its head may be older than its log
    for name, record in context.knowledge.records.items():
        with _said(context, name):
            _finish(context, record)
    removed: list[str] = []
    for unfinished, claim in claims:
        with _said(context, claim.module):
            removed += _tidy(context, unfinished, claim)
    return (*removed, *context.tools.folders.sweep())


def _finish(context: Context, record: Record) -> None:
    if sound(record).holder:
        from hybridwrap.run.finish import finish

        finish(context, record)


@contextmanager
def _said(context: Context, module: str) -> Iterator[None]:
    """What goes wrong with one module is said, and keeps no other from being finished."""
    try:
        yield
    except HybridwrapError as error:
        told = error.message.removeprefix(f"{module} ").removeprefix(f"{module}: ")
        context.watch.warning(module, told + (f"; next: {error.hint}" if error.hint else ""))


def _tidy(context: Context, unfinished: Unfinished, claim: Claim) -> tuple[str, ...]:
    """Close a folder whose operation does not hold its module; name one that was removed, as nothing ran."""
    folder = context.tools.folders.open(unfinished.path)
    if folder is None:
        return ()  # somebody is at work in it
    try:
        record = context.tools.ledger.record(claim.module)
        finished = folder.claim() is None
        ours = record.holder is not None and record.holder.operation == folder.operation
        return (folder.operation,) if not finished and not ours and _close(context, folder, claim, record) else ()
    finally:
        folder.release()


def _close(context: Context, folder: LeftFolder, claim: Claim, record: Record) -> bool:
    """Say whether nothing ran, and all its files are gone."""
    from hybridwrap.run.recording import end, send

    spooled = folder.result()
    if spooled:
        send(context, folder, record, decode(spooled, Result, str(folder.path)), None)
        return False
    own = {entry.kind for entry in context.tools.ledger.history(claim.module) if entry.operation == folder.operation}
    if own == {Kind.BEGIN}:
        end(context, folder, record, _evidence(folder), None)  # taken over from, before it could tell its result
        return False
    if own:
        folder.drop_secrets()
        folder.close_business()
        return False
    if too_late := record.seq >= claim.seq:  # its slot is filled: it can't land any more, and nothing ran
        folder.remove()
    return too_late


def _evidence(folder: LeftFolder) -> End:
    """What an operation tells that was taken over from; of its state nobody can say any more which one it left."""
    told = folder.told()
    objects = objects_after((), told, Unreadable("whose state it is now cannot be said"))
    reason = "its hybridwrap was gone, and it was taken over from"
    return End(Outcome.UNKNOWN, Status.UNKNOWN, objects=objects, reason=reason, log=str(folder.events))
