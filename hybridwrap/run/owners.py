"""Owned modules: they go with their owner, and count as gone only when that is.

Keeps: what is said of an owned module cites the entry that confirmed its owner's same life absent; and of an owner and
a module that goes with it, never both are begun without the one knowing of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hybridwrap.domain.entry import Entry, Moved, OwnerEnd
from hybridwrap.domain.fold import fold
from hybridwrap.domain.record import Record
from hybridwrap.domain.status import Status
from hybridwrap.domain.teardown import go_before, in_the_way, needs_of, owned_in, owner_of
from hybridwrap.domain.transitions import held_by
from hybridwrap.run.context import Context
from hybridwrap.run.preparation import Prepared


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


def why_not_begin(context: Context, prepared: Prepared) -> str:
    """Say what somebody else has begun that rules out what was just begun here, "" when nothing does.

    Asked after `begin`, of the ledger itself: of two that began at the same time, at least one sees the other.
    """
    return _too_late(context, prepared) if context.options.plan.destroy else _ownerless(context, prepared)


def _ownerless(context: Context, prepared: Prepared) -> str:
    name, owner = prepared.module.name, prepared.module.owner
    if not owner:
        return ""
    record = context.tools.ledger.record(owner)
    began = context.knowledge.record(name).intent
    if record.holder and record.holder.command == "destroy":
        return f"its owner {owner} is being destroyed"
    if began and began.owner_incarnation and not (in_the_way(record) and record.incarnation == began.owner_incarnation):
        return f"its owner {owner} was destroyed meanwhile"
    return ""


def _too_late(context: Context, prepared: Prepared) -> str:
    """Look again at all that must be gone before a module, or goes with it."""
    name, tools = prepared.module.name, context.tools
    records = tools.ledger.records(tools.stack.modules)
    owned = owned_in(records, (name,))
    first = go_before(needs_of(tools.stack, records), owned).get(name, ())
    with_it = [child for child, owner in owned.items() if owner == name]
    for other in (*first, *with_it):
        record = records.get(other, Record(other))
        if record.holder:
            return f"{other} is {held_by(record)}"
        if other in first and in_the_way(record):
            return f"{other} was applied meanwhile"
    return ""
