"""Owned modules: they go with their owner, and count as gone only when that is.

Keeps: what is said of an owned module cites the entry that confirmed its owner's same life absent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hybridwrap.domain.entry import Entry, Moved, OwnerEnd
from hybridwrap.domain.fold import fold
from hybridwrap.domain.record import Record
from hybridwrap.domain.status import Status
from hybridwrap.domain.teardown import in_the_way, owner_of
from hybridwrap.run.context import Context


def end_of_owner(context: Context, record: Record) -> OwnerEnd | None:
    """Find the entry that confirmed the life of the owner absent that a module goes with."""
    owner = record.declared.owner if record.declared and record.owner_incarnation else ""
    searched: set[str] = set()
    while owner and owner not in searched:
        searched.add(owner)
        tail, history = context.tools.ledger.record(owner), context.tools.ledger.history(owner)
        ends = [end for end in _ends_of_lives(tail, history) if end.incarnation == record.owner_incarnation]
        if ends and not _lives(tail, record.owner_incarnation):
            return ends[-1]
        last = history[-1].body if history else None
        owner = last.to if isinstance(last, Moved) else ""
    return None


def _ends_of_lives(tail: Record, history: tuple[Entry, ...]) -> Iterator[OwnerEnd]:
    """Each entry with which a life of a module ended; its next one begins while it still counts as destroyed."""
    record = Record(tail.module)
    digests = [*(entry.prev for entry in history[1:]), tail.tail]
    for entry, digest in zip(history, digests, strict=False):
        before, record = record, fold(record, entry, digest)
        if record.settled is Status.DESTROYED and before.settled is not Status.DESTROYED:
            yield OwnerEnd(record.module, record.incarnation, record.seq, record.tail)


def gone_with_owner(records: Mapping[str, Record]) -> dict[str, str]:
    """Modules that must have gone with an owner and do not say so yet, each with its owner; by the records alone."""
    found = {name: owner_of(record, records) for name, record in records.items()}
    return {
        name: owner
        for name, owner in found.items()
        if owner in records
        and not records[name].holder
        and in_the_way(records[name])
        and not _lives(records[owner], records[name].owner_incarnation)
    }


def _lives(owner: Record, life: str) -> bool:
    """Whether an owner is in that life; one without any was renamed, and nothing is known by this name."""
    return not owner.incarnation or (owner.incarnation == life and owner.settled is not Status.DESTROYED)
