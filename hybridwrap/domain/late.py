"""What the late result of a superseded operation says about a module: evidence, and never how the module ended.

Keeps: an object that it made is listed, with its id, until a state or a person accounts for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from hybridwrap.domain.entry import CloudObject, End, StateMark
from hybridwrap.domain.record import Record
from hybridwrap.domain.status import Status


def weigh(record: Record, operation: str, end: End) -> Record:
    """Take a late result in: a state or an object that its taker did not see makes the module unknown.

    While an operation holds the module, that shows at the end of that one.
    """
    holder, made = record.holder, _made(end)
    if holder and operation in {dead.operation for dead in holder.took_over}:
        seen = (*holder.late, end.state) if end.state else holder.late
        return replace(record, holder=replace(holder, late=seen), strays=(*record.strays, *made))
    doubt = surprise((end.state,), record.superseded.get(operation, end.state)) if end.state else ""
    if end.state and not doubt:
        return record
    if holder:
        return replace(record, doubt=doubt or record.doubt, strays=(*record.strays, *made))
    return with_strays(replace(_doubted(record, doubt), strays=made))


def with_strays(record: Record) -> Record:
    """Call open what late results have made and the record does not account for: then the module is unknown."""
    known = {(o.address, o.id) for o in record.objects}
    strays = {(o.address, o.id): o for o in record.strays if (o.address, o.id) not in known}
    record = replace(record, strays=())
    if not strays:
        return record
    answered = {address for address, _ in strays}  # begun, and nobody knew with what id
    kept = (o for o in record.objects if o.id or o.address not in answered)
    return _doubted(replace(record, objects=(*kept, *strays.values())), _told(strays.values()))


def surprise(late: Sequence[StateMark], state: StateMark | None) -> str:
    """Say which state of a late result is not the one that was found; empty when there is none."""
    for mark in late:
        if state and (mark.lineage, mark.serial) != (state.lineage, state.serial):
            return (
                f"a superseded operation left state serial {mark.serial}, the one that took over found {state.serial}"
            )
    return ""


def _doubted(record: Record, doubt: str) -> Record:
    if not doubt:
        return record
    reason = f"{record.reason}; {doubt}" if record.status is Status.UNKNOWN and record.reason else doubt
    return replace(record, status=Status.UNKNOWN, settled=Status.UNKNOWN, reason=reason)


def _made(end: End) -> tuple[CloudObject, ...]:
    """What an operation itself has made, with ids; by its steps, where there are any."""
    steps = {(step.address, step.id) for step in end.steps}
    return tuple(
        replace(o, open=True, unfinished=False)
        for o in end.objects
        if o.id and not o.retained and (o.open or not steps or (o.address, o.id) in steps)
    )


def _told(strays: Iterable[CloudObject]) -> str:
    names = ", ".join(f"{o.address} ({o.id})" for o in strays)
    return f"a superseded operation made what the state does not hold: {names}"
