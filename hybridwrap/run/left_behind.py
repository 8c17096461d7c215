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


def finish_left_behind(context: Context) -> None:
    """Finish whatever can be finished without waiting for the living, and say so; say what could not be, too."""
    claims = tuple(claims_here(context.tools))
    for name in {claim.module for _, claim in claims}:
        with _said(context, name):
            context.knowledge.learn(context.tools.ledger.record(name))  # its head may be older than its log
    for name, record in context.knowledge.records.items():
        with _said(context, name):
            _finish(context, record)
    for unfinished, claim in claims:
        with _said(context, claim.module):
            _tidy(context, unfinished, claim)
    context.tools.folders.sweep()


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


def _tidy(context: Context, unfinished: Unfinished, claim: Claim) -> None:
    """Close a folder whose operation does not hold its module."""
    folder = context.tools.folders.open(unfinished.path)
    if folder is None:
        return  # somebody is at work in it
    try:
        record = context.tools.ledger.record(claim.module)
        finished = folder.claim() is None
        if not finished and (record.holder is None or record.holder.operation != folder.operation):
            _close(context, folder, claim, record)
    finally:
        folder.release()


def _close(context: Context, folder: LeftFolder, claim: Claim, record: Record) -> None:
    from hybridwrap.run.recording import end, send

    spooled = folder.result()
    if spooled:
        send(context, folder, record, decode(spooled, Result, str(folder.path)), None)
        return
    own = {entry.kind for entry in context.tools.ledger.history(claim.module) if entry.operation == folder.operation}
    if not own:
        if record.seq >= claim.seq:
            folder.remove()  # its slot is filled by another entry: it can't land any more, and nothing ran
    elif own == {Kind.BEGIN}:
        end(context, folder, record, _evidence(folder), None)  # taken over from, before it could tell its result
    else:
        folder.drop_secrets()
        folder.close_business()


def _evidence(folder: LeftFolder) -> End:
    """What an operation tells that was taken over from; of its state nobody can say any more which one it left."""
    told = folder.told()
    objects = objects_after((), told, Unreadable("whose state it is now cannot be said"))
    reason = "its hybridwrap was gone, and it was taken over from"
    return End(Outcome.UNKNOWN, Status.UNKNOWN, objects=objects, reason=reason, log=str(folder.events))
