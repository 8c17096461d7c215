"""Finish an operation whose hybridwrap is gone: write the end that it could not write itself.

Keeps: the locks of the operation, and of all that it took over from, are held before anything of theirs is read, and
until the end is in the ledger.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack

from msgspec.structs import replace

from hybridwrap.domain.beat import Beat
from hybridwrap.domain.codec import decode
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.left_behind import Claim, Liveness
from hybridwrap.domain.ports import LeftFolder, OperationFolder
from hybridwrap.domain.record import Holder, Record
from hybridwrap.domain.result import Result
from hybridwrap.domain.status import Status
from hybridwrap.run.context import Context
from hybridwrap.run.recording import end, send
from hybridwrap.run.remains import Remains, end_of, mask_of

GLANCE_SECONDS = 0.1  # longer than anybody holds a lock who only looks whether it is free


def finish(context: Context, record: Record) -> Liveness:
    """Finish the operation that holds a module if it is dead, and learn how the module stands; say how it was found.

    Raise ResultNotSent, Superseded, and what keeps the engine's state from being looked at.
    """
    if record.holder is None:
        return Liveness.DEAD
    with ExitStack() as ours:
        folder = _taken(context, record.holder)
        if isinstance(folder, Liveness):
            return folder
        ours.callback(folder.release)
        record = context.tools.ledger.record(record.module)  # again: from now on nobody else can finish it
        context.knowledge.learn(record)
        if record.holder is None or record.holder.operation != folder.operation:
            return Liveness.DEAD
        holder = record.holder
        left = earlier(context, holder, ours) if holder.took_over else folder
        if isinstance(left, Liveness):
            return left
        found = folder.result()
        if found is None:
            write_end(context, record, folder, left)
        else:
            remains = remains_of(context, record, folder, left)
            send(context, folder, record, decode(found, Result, str(folder.path)), mask_of(context, remains, None))
    context.watch.note(told(holder, context.knowledge.record(record.module)))
    return Liveness.DEAD


def _taken(context: Context, holder: Holder) -> LeftFolder | Liveness:
    """Take the locks of a dead operation; one that is found alive is asked twice: somebody may only have looked."""
    found = context.tools.folders.take(holder.locks)
    if found in (Liveness.RUNNER, Liveness.ENGINE):
        context.tools.clock.sleep(GLANCE_SECONDS)
        return context.tools.folders.take(holder.locks)
    return found


def told(holder: Holder, record: Record) -> str:
    """What was finished, how the module stands by it, and what to type."""
    why = f": {record.reason}" if record.status is not Status.OK and record.reason else ""
    then = f"; next: hybridwrap reconcile {record.module}" if record.status is Status.UNKNOWN else ""
    return f"finished what {holder.command} {holder.operation} left behind: {record.module} {record.status}{why}{then}"


def earlier(context: Context, holder: Holder, ours: ExitStack) -> LeftFolder | Liveness | None:
    """Take the locks of the operations that this one took over from, as far as they can be seen from here.

    Return the folder where the engine was at work, None when it can't be seen; or how one of them was found alive.
    """
    first: LeftFolder | None = None
    for dead in holder.took_over:  # the one that began comes last
        found = context.tools.folders.take(dead.locks)
        if isinstance(found, Liveness) and found is not Liveness.NOT_VISIBLE:
            return found
        first = None if isinstance(found, Liveness) else found
        if first:
            ours.callback(first.release)
    return first


def write_end(
    context: Context,
    record: Record,
    folder: OperationFolder,
    left: LeftFolder | None,
    proven: frozenset[str] = frozenset(),
) -> None:
    """Judge a dead operation and record its end; `left` is where its engine was at work, None when not visible.

    `proven` are ids of state locks that are known to be its own.
    """
    remains = remains_of(context, record, folder, left, proven)
    spooled = left.result() if left else None
    if left and spooled:  # of an operation that was taken over from
        body, mask = decode(spooled, Result, str(left.path)).end, mask_of(context, remains, None)
    else:
        body, mask = end_of(context, remains)
    end(context, folder, record, body, mask)
    if left and left is not folder:
        left.rewrite_logs(mask.text)
        left.drop_secrets()
        left.close_business()
    for operation in _chain(remains.holder):
        context.tools.ledger.forget_beat(record.module, operation)


def remains_of(
    context: Context,
    record: Record,
    folder: OperationFolder,
    left: LeftFolder | None,
    proven: frozenset[str] = frozenset(),
) -> Remains:
    if left is None:
        beats = _beats(context, record)
        locks = proven | {beat.state_lock for beat in beats} - {""}
        return Remains(_with_objects(record, beats), folder, locks=locks)
    claim = left.claim()
    return Remains(
        held=record,
        folder=folder,
        left=left.path,
        complete=_began(record).writer.boot == context.tools.ledger.writer.boot,
        told=left.told(),
        planned=left.told_by_plan(),
        inputs=left.inputs(),
        whole=decode(claim, Claim, str(left.path)).whole if claim else False,
    )


def _beats(context: Context, record: Record) -> list[Beat]:
    chain = set(_chain(record.holder)) if record.holder else set()
    return [beat for beat in context.tools.ledger.beats(record.module) if beat.operation in chain]


def _with_objects(record: Record, beats: Iterable[Beat]) -> Record:
    """Know the objects, too, that were sent off the host while the engine was at work."""
    known = {(o.address, o.id): o for o in record.objects}
    made = {(o.address, o.id): o for beat in beats for o in beat.objects}
    return replace(record, objects=tuple(_in_order({**known, **made}.values())))


def _in_order(objects: Iterable[CloudObject]) -> list[CloudObject]:
    return sorted(objects, key=lambda o: (o.address, o.id))


def _began(record: Record) -> Holder:
    if record.holder is None:
        raise AssertionError(f"{record.module} is free")
    return (record.holder, *record.holder.took_over)[-1]


def _chain(holder: Holder) -> tuple[str, ...]:
    return tuple(held.operation for held in (holder, *holder.took_over))
