"""What a log says: one entry after the other, folded into a record.

Keeps: what is known is never emptied by a failure, and what turned out not to have run leaves no trace but its entries.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import fields, replace

from hybridwrap.domain.damage import Damage
from hybridwrap.domain.drift import Drift
from hybridwrap.domain.entry import (
    Adopt,
    Begin,
    Carried,
    Confirm,
    End,
    Entry,
    Kind,
    Late,
    Moved,
    Observe,
    Retain,
    Takeover,
)
from hybridwrap.domain.late import surprise, weigh, with_strays
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.record import Holder, Record, Stamp
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.domain.transitions import fits, held_by
from hybridwrap.errors import LedgerDamaged

CLEARED = frozenset({Status.OK, Status.DESTROYED})  # statuses after which no earlier error stands
IGNORED_WHEN_MISPLACED = frozenset({Kind.END, Kind.CONFIRM})


def fold(record: Record, entry: Entry, digest: str) -> Record:
    """Follow a log by one entry, whose bytes have the digest. Raise LedgerDamaged when it does not continue it."""
    _must_continue(record, entry)
    after = replace(record, seq=entry.seq, tail=digest)
    if not fits(record, entry.kind, entry.operation):
        if entry.kind in IGNORED_WHEN_MISPLACED:
            return after
        raise LedgerDamaged(f"{entry.module} entry {entry.seq}: `{entry.kind}` while the module is {held_by(record)}")
    if entry.incarnation != record.incarnation:
        after = replace(after, incarnation=entry.incarnation, doubted=False, evidence=(), drift=None)
    followed = _followed(after, entry)
    return replace(followed, doubted=True) if followed.settled is Status.UNKNOWN else followed


def broken_off(record: Record, damage: Damage) -> Record:
    """What is known of a module whose log can't be read on: whatever came behind may have changed all of it."""
    return replace(
        record,
        status=Status.UNKNOWN,
        settled=Status.UNKNOWN,
        holder=None,
        intent=None,
        before=None,
        reason=f"its log is damaged: {damage}",
        outputs=_kept_outputs(record.outputs, {}, Status.UNKNOWN),
        damage=damage,
    )


def _must_continue(record: Record, entry: Entry) -> None:
    where = f"{record.module} entry {record.seq + 1}"
    if (entry.module, entry.seq) != (record.module, record.seq + 1):
        raise LedgerDamaged(f"{where}: its content is entry {entry.seq} of {entry.module}")
    if entry.prev != record.tail:
        raise LedgerDamaged(f"{where}: it does not follow entry {record.seq} as that one reads now")


def _followed(record: Record, entry: Entry) -> Record:  # noqa: C901, PLR0911 - one row for each kind
    match entry.body:
        case Begin() as body:
            return _begun(record, entry, body)
        case Confirm():
            return replace(record, holder=record.holder and replace(record.holder, confirmed=True))
        case End() as body:
            return with_strays(_ended(record, body, entry.time))
        case Takeover() as body:
            return _taken_over(record, entry, body)
        case Observe() as body:
            return _observed(record, entry, body)
        case Adopt() as body:
            return _adopted(record, entry, body)
        case Retain() as body:
            return _settled(record, entry, Status.RETAINED, body.reason, body.run)
        case Moved() as body:
            moved = Record(record.module, record.seq, record.tail)
            return _settled(moved, entry, Status.NONE, f"moved to {body.to}: {body.reason}", record.run)
        case Late() as body:
            return weigh(record, entry.operation, body.end)
        case _:  # a cancel fills a slot and says nothing
            return record


def _begun(record: Record, entry: Entry, body: Begin) -> Record:
    holder = Holder(entry.operation, entry.seq, body.command, body.run, entry.time, entry.writer, body.locks)
    stamp = Stamp(entry.time, str(entry.writer), body.run, entry.operation, body.command)
    held = replace(
        record, status=Status.RUNNING, holder=holder, intent=replace(body, previous_outputs={}), before=record.stamp
    )
    return _stamped(held, stamp)


def _taken_over(record: Record, entry: Entry, body: Takeover) -> Record:
    dead, _, _ = _held(record)
    taker = Holder(
        operation=entry.operation,
        token=entry.seq,
        command=dead.command,
        run=body.run,
        since=entry.time,
        writer=entry.writer,
        locks=body.locks,
        confirmed=dead.confirmed,
        took_over=(replace(dead, took_over=(), late=()), *dead.took_over),
        late=dead.late,
    )
    stamp = Stamp(entry.time, str(entry.writer), body.run, entry.operation, dead.command)
    return _stamped(replace(record, holder=taker), stamp)


def _ended(record: Record, body: End, time: str) -> Record:
    holder, intent, before = _held(record)
    state = body.state or intent.state
    superseded = {**record.superseded, **{dead.operation: state for dead in holder.took_over}}
    freed = replace(record, holder=None, intent=None, before=None, doubt="", superseded=superseded)
    if body.outcome is Outcome.CANCELLED:
        return _undone(freed, before, record.doubt or surprise(holder.late, state))
    doubt = record.doubt or surprise(holder.late, state)
    status = Status.UNKNOWN if doubt else body.status
    known = freed if intent.declared is None else _declared_by(freed, intent)
    return replace(
        known,
        status=status,
        settled=status,
        outcome=body.outcome,
        reason=doubt or body.reason,
        since=time,
        outputs=_kept_outputs(record.outputs, body.outputs, status),
        objects=body.objects if _tells_all(intent, body) else body.objects or record.objects,
        planned=intent.planned,
        inputs=intent.inputs,
        inputs_digest=intent.inputs_digest,
        upstream_digest=intent.upstream_digest,
        source=intent.source,
        engine=intent.engine,
        state=state,
        failed_command=body.failed_command,
        errors=body.errors,
        warnings=body.warnings,
        evidence=body.evidence,
        log=body.log,
        kept=body.kept or (record.kept if status is Status.UNKNOWN else None),
        state_lock=body.state_lock or (record.state_lock if status is Status.UNKNOWN else ""),
        drift=_drift_after(record, status),
    )


def _drift_after(record: Record, status: Status) -> Drift | None:
    """What a change leaves of the drift that was seen before it."""
    return record.drift.after_change() if record.drift and status is not Status.DESTROYED else None


def _tells_all(intent: Begin, body: End) -> bool:
    """Whether an end without objects means that there are none; a destroy may leave none however it ends."""
    return body.outcome is Outcome.SUCCEEDED or (intent.command == "destroy" and body.outcome is not Outcome.UNKNOWN)


def _declared_by(record: Record, intent: Begin) -> Record:
    return replace(record, declared=intent.declared, owner_incarnation=intent.owner_incarnation)


def _undone(record: Record, before: Stamp, doubt: str) -> Record:
    """Nothing ran: the record is what it was before the intent."""
    if doubt:
        record = replace(record, settled=Status.UNKNOWN, reason=doubt)
    return _stamped(replace(record, status=record.settled), before)


def _held(record: Record) -> tuple[Holder, Begin, Stamp]:
    if record.holder and record.intent and record.before:
        return record.holder, record.intent, record.before
    raise LedgerDamaged(f"{record.module} entry {record.seq}: it ends or takes over what nobody began")


def _kept_outputs(old: Mapping[str, Output], new: Mapping[str, Output], status: Status) -> Mapping[str, Output]:
    """After a good apply the new ones; else those that nothing new is said about stay, as older than what happened."""
    if status is Status.OK:
        return new
    stale = {
        n: o if o.provenance is Provenance.MISSING else replace(o, provenance=Provenance.STALE) for n, o in old.items()
    }
    return {**stale, **new}


def _observed(record: Record, entry: Entry, body: Observe) -> Record:
    seen = replace(
        record,
        state=body.state or record.state,
        outputs=record.outputs if body.outputs is None else body.outputs,
        objects=record.objects if body.objects is None else body.objects,
        source=body.source or record.source,
        engine=body.engine or record.engine,
        evidence=body.evidence or record.evidence,
    )
    if body.inputs is not None:
        seen = replace(seen, inputs=body.inputs, inputs_digest=body.inputs_digest, upstream_digest=body.upstream_digest)
    if body.drift is not None:  # no act on the module: what a run left pending stays so
        return replace(seen, drift=body.drift)
    if body.status is None or body.status is record.settled:
        reason = body.reason if body.status is Status.ERROR else record.reason
        return replace(seen, run=body.run, reason=reason)
    return _settled(seen, entry, body.status, body.reason, body.run)


def _adopted(record: Record, entry: Entry, body: Adopt) -> Record:
    if body.carried:
        return _renamed(record, body, body.carried)
    drift = _drift_after(record, Status.OK)
    taken = replace(record, state=body.state, outputs=body.outputs, objects=body.objects, drift=drift)
    return _settled(taken, entry, Status.OK, body.reason, body.run)


def _renamed(record: Record, body: Adopt, carried: Carried) -> Record:
    """The record that the module had under its old name: nothing was done to it."""
    kept = {field.name: getattr(carried, field.name) for field in fields(carried)}
    return replace(
        Record(record.module, record.seq, record.tail),
        settled=carried.status,
        state=body.state,
        outputs=body.outputs,
        objects=body.objects,
        **kept,
    )


def _settled(record: Record, entry: Entry, status: Status, reason: str, run: str) -> Record:
    """Give a status that no operation left."""
    if status in CLEARED:
        record = replace(record, errors=(), failed_command=(), warnings=())
    if status is Status.DESTROYED:
        record = replace(record, objects=(), outputs=_kept_outputs(record.outputs, {}, status), drift=None)
    if status not in (Status.UNKNOWN, Status.RETAINED):
        record = replace(record, kept=None)
    stamp = Stamp(entry.time, str(entry.writer), run, entry.operation, entry.kind.value)
    return _stamped(replace(record, status=status, settled=status, outcome=None, reason=reason), stamp)


def _stamped(record: Record, stamp: Stamp) -> Record:
    return replace(
        record, since=stamp.since, by=stamp.by, run=stamp.run, operation=stamp.operation, command=stamp.command
    )
