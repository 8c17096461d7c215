"""Which entry may follow which tail: one table, asked before every write and at every fold."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from hybridwrap.domain.entry import KINDS, Begin, Body, End, Kind, Observe
from hybridwrap.domain.record import Record
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.domain.told_time import in_utc
from hybridwrap.errors import LedgerMisused, ModuleBusy


class Tail(Enum):
    """What the tail must be for an entry to follow it."""

    ANY = "anything"
    FREE = "free"
    OWN = "held by the same operation"
    OTHER = "held by another operation"


MUST_BE: Mapping[Kind, Tail] = {
    Kind.BEGIN: Tail.FREE,
    Kind.CONFIRM: Tail.OWN,
    Kind.END: Tail.OWN,
    Kind.CANCEL: Tail.ANY,
    Kind.TAKEOVER: Tail.OTHER,
    Kind.OBSERVE: Tail.FREE,
    Kind.ADOPT: Tail.FREE,
    Kind.RETAIN: Tail.FREE,
    Kind.MOVED: Tail.FREE,
    Kind.LATE: Tail.ANY,
}

# Which statuses an outcome can leave behind; a cancelled operation leaves the one before it.
LEAVES: Mapping[Outcome, frozenset[Status]] = {
    Outcome.SUCCEEDED: frozenset({Status.OK, Status.ERROR, Status.UNKNOWN, Status.RETAINED, Status.DESTROYED}),
    Outcome.FAILED: frozenset({Status.ERROR, Status.UNKNOWN, Status.RETAINED}),
    Outcome.INTERRUPTED: frozenset({Status.ERROR, Status.UNKNOWN}),
    Outcome.UNKNOWN: frozenset({Status.UNKNOWN}),
    Outcome.CANCELLED: frozenset(),
}
OBSERVABLE = frozenset({Status.OK, Status.ERROR, Status.UNKNOWN, Status.RETAINED, Status.DESTROYED})


def fits(record: Record, kind: Kind, operation: str) -> bool:
    """Whether an entry of the kind, by the operation, may follow the record."""
    holder = record.holder.operation if record.holder else None
    match MUST_BE[kind]:
        case Tail.ANY:
            return True
        case Tail.FREE:
            return holder is None
        case Tail.OWN:
            return holder == operation
        case Tail.OTHER:
            return holder is not None and holder != operation


def check(record: Record, body: Body, operation: str) -> None:
    """Raise ModuleBusy when a free module is needed and held, LedgerMisused for any other illegal step."""
    kind = KINDS[type(body)]
    if not fits(record, kind, operation):
        if MUST_BE[kind] is Tail.FREE:
            raise ModuleBusy(f"{record.module} is {held_by(record)}")
        raise LedgerMisused(f"{record.module}: `{kind}` of {operation} needs a tail that is {MUST_BE[kind].value}")
    objection = _objection(record, body)
    if objection:
        raise LedgerMisused(f"{record.module}: `{kind}` of {operation}: {objection}")


def held_by(record: Record) -> str:
    holder = record.holder
    return (
        f"held by {holder.command} {holder.operation} of {holder.writer} since {in_utc(holder.since)}"
        if holder
        else "free"
    )


def _objection(record: Record, body: Body) -> str:
    match body:
        case Begin():
            return _begin_objection(record, body)
        case End():
            return _end_objection(record, body)
        case Observe():
            return _observe_objection(record, body)
    return ""


def _begin_objection(record: Record, body: Begin) -> str:
    if record.settled is Status.RETAINED:
        return "a retained module has to be adopted first"
    if record.settled is Status.UNKNOWN and body.command == "apply":
        return "an unknown module has to be reconciled first"
    return ""


def _observe_objection(record: Record, body: Observe) -> str:
    if body.drift is not None:
        drifts = record.settled not in {Status.NONE, Status.DESTROYED}
        return "" if drifts else "there is nothing that could drift"
    if body.status is Status.NONE:
        return "none means that there never was an object" if body.objects != () else ""
    if body.status not in {None, *OBSERVABLE}:
        return f"{body.status} cannot be observed"
    return "destroyed needs evidence" if body.status is Status.DESTROYED and not body.evidence else ""


def _end_objection(record: Record, body: End) -> str:
    if body.outcome is Outcome.CANCELLED:
        return "" if body.status is record.settled else f"nothing ran: the status stays {record.settled}"
    if body.status not in LEAVES[body.outcome]:
        return f"{body.outcome} cannot leave {body.status}"
    if body.status is Status.DESTROYED and not body.evidence:
        return "destroyed needs evidence"
    return ""
