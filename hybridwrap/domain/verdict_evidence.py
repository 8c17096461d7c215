"""The evidence for a verdict, in sentences: what is recorded, what was found, what is open, what a plan says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from shlex import quote
from typing import Final

from hybridwrap.counting import count_of, first_of
from hybridwrap.domain import guard, rescue
from hybridwrap.domain.engine_run import Action, Diagnostic, PlannedChange
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.look import Look, PlanSeen
from hybridwrap.domain.record import Record
from hybridwrap.domain.state import Instance, StatePlace, Unreadable, instances_of
from hybridwrap.domain.status import Status
from hybridwrap.domain.told_time import in_utc
from hybridwrap.domain.verdict import absent

_NAMED: Final = 10  # objects in one sentence
_WORDS: Final = {
    Action.CREATE: "to create",
    Action.UPDATE: "to change",
    Action.REPLACE: "to replace",
    Action.DELETE: "to destroy",
    Action.IMPORT: "to import",
    Action.MOVE: "to move",
    Action.REMOVE: "to forget",
    Action.FORGET: "to forget",
    Action.OTHER: "other",
}


def evidence(look: Look) -> tuple[str, ...]:
    """Say all that the verdict on a module rests on, a sentence each, the record first."""
    if look.record.damage:
        return _damaged(look.record)
    return (
        *_recorded(look),
        *_state(look),
        *_lock(look),
        *_kept(look),
        *_progress(look),
        *_open(look),
        *_plan(look),
    )


def _damaged(record: Record) -> tuple[str, ...]:
    told = f"entries up to {record.seq} can be read: last {record.command} by {record.by}, {record.since}"
    return (record.reason, told if record.command else "nothing of it can be read", "its state was not looked at")


def _recorded(look: Look) -> Iterator[str]:
    record = look.record
    if record.status is Status.NONE:
        yield "the ledger has no record of it"
        return
    reason = f": {record.reason}" if record.reason else ""
    who = f"{record.command} {record.operation} by {record.by}".replace("  ", " ")
    yield f"{who}, {in_utc(record.since)}: {record.status}{reason}"
    yield from _errors(record.errors, record.reason)
    if look.liveness:
        yield f"its operation: {look.liveness}"
    if look.unsent:
        yield "its result lies on this host and is not yet in the ledger"


def _errors(errors: Iterable[Diagnostic], reason: str) -> Iterator[str]:
    for error in errors:
        text = f"{error.address}: {error.summary}" if error.address else error.summary
        if text not in reason:
            yield f"error: {text}"


def _state(look: Look) -> Iterator[str]:
    if look.comparison is None:
        yield f"the state was not looked at: {look.obstacle}"
        return
    comparison = look.comparison
    found = comparison.found
    if isinstance(look.found, Unreadable):
        yield f"state: {look.found.reason}"
    elif look.lost:
        yield f"state: {found.place} is there and holds nothing, as a kill in a save leaves it"
    elif not found.lineage:
        yield f"state: none at {found.place}"
    else:
        yield f"state: serial {found.serial}, {_count(look)} at {found.place}"
    if comparison.match not in (guard.Match.SAME, guard.Match.NEW):
        yield from _difference(comparison, look.record)


def _count(look: Look) -> str:
    instances = instances_of(look.found)
    return "encrypted" if instances is None else count_of(len(instances), "object")


def _difference(comparison: guard.Comparison, record: Record) -> Iterator[str]:
    recorded = comparison.recorded
    if recorded is None:
        return
    what = f"serial {recorded.serial}, lineage {recorded.lineage}" if recorded.lineage else "no state"
    yield f"{comparison}; recorded: {what} at {recorded.place}, {count_of(len(record.objects), 'object')}"
    if not comparison.safe:
        yield "likely: wrong account, bucket, key or workspace; state deleted or restored; renamed without `mv`"
        yield f"to have the recorded one again: {_versions(recorded.place)}; without one, accept what is there"


def _versions(place: StatePlace) -> str:
    if place.backend == "s3":
        return f"aws s3api list-object-versions --bucket {place.bucket} --prefix {place.path}"
    return "a backup of its file" if place.backend == "local" else "the versions that its backend keeps"


def _lock(look: Look) -> Iterator[str]:
    if look.lock is None:
        return
    if look.lock_is_ours:
        yield f"state lock: left behind by this operation: {look.lock}"
    else:
        yield f"state lock: {look.lock}" + ("" if look.lock.holds else "; it keeps nobody out")


def _kept(look: Look) -> Iterator[str]:
    kept = look.kept
    if kept is None:
        return
    size = count_of(len(kept.kept.instances), "object") if kept.kept.readable else "encrypted"
    yield f"a state that could not be saved: serial {kept.kept.serial}, {size}, at {look.kept_at}; {kept.fit}"
    if kept.fit not in rescue.SAFE:
        yield from _only("only in that state", kept.only_kept)
        yield from _only("only in the state in its place", kept.only_there)


def _only(where: str, instances: tuple[Instance, ...]) -> Iterator[str]:
    if instances:
        yield f"{where}: {first_of([f'{i.address} {i.id}'.strip() for i in instances], _NAMED)}"


def _progress(look: Look) -> Iterator[str]:
    """How far the operation's creations came, where something of them is open."""
    creates = {c.address for c in look.record.planned if c.action in (Action.CREATE, Action.REPLACE)}
    if not creates or not look.open.any:
        return
    made = creates & {o.address for o in (*look.open.importable, *look.open.displaced)}
    begun = creates & {o.address for o in look.open.unanswered}
    saved = creates & {i.address for i in instances_of(look.found) or ()} - made - begun
    rest = len(creates) - len(made) - len(begun) - len(saved)
    parts = ((len(saved), "saved"), (len(made), "made and not saved"), (len(begun), "begun"), (rest, "not begun"))
    told = ", ".join(f"{count} {word}" for count, word in parts if count)
    yield f"{len(creates)} to create: {told}"


def _open(look: Look) -> Iterator[str]:
    for o in look.open.importable:
        yield f"made, not in the state: {_named(o, look)}{_or_absent(o, look)}"
    for o in look.open.displaced:
        yield (
            f"made, and another object has its place in the state: {_named(o, look)}; "
            f"remove one of the two by hand; once {o.id} is gone: {absent(look.module, o)}"
        )
    for o in look.open.strays:
        yield f"found by a look, and in no state: {o.id}; delete it by hand, and then: {absent(look.module, o)}"
    for o in look.open.unanswered:
        yield (
            f"begun, no answer: {_named(o, look)}; look for it: if it is there, import it by its id; "
            f"if it is not: {absent(look.module, o)}"
        )
    for o in look.open.unfinished:
        taint = f"hybridwrap tf {quote(look.module)} -- taint {quote(o.address)}"
        yield f"in the state, unfinished (its creation or a provisioner): {_named(o, look)}; to make it anew: {taint}"
    if look.imports_file:
        yield f"import blocks: {look.imports_file}"


def _or_absent(o: CloudObject, look: Look) -> str:
    """What was there after a good apply may have been taken out of the state because it is gone."""
    if o.address in look.not_imported:
        return f"; it could not be imported; if it is gone: {absent(look.module, o)}"
    return f"; if it is gone: {absent(look.module, o)}" if look.record.status is Status.OK else ""


def _named(o: CloudObject, look: Look) -> str:
    kind = f" ({o.type})" if o.type else ""
    key = "id" if o.id_key in ("", "id") else o.id_key
    known = [f"{key} {o.id}" if o.id else "", look.names.get(o.address, "")]
    return ", ".join([f"{o.address}{kind}", *filter(None, known)])


def _plan(look: Look) -> Iterator[str]:
    if look.plan is not None:
        yield from _planned(look.plan, "plan, as long as that is open" if look.open.any else "plan")
    elif look.source_gone:
        yield "no plan: its folder is not there; put it back, or tear it down with the source that the ledger has"
    elif look.obstacle and look.comparison is not None:
        yield f"no plan: {look.obstacle}"


def _planned(plan: PlanSeen, head: str) -> Iterator[str]:
    told = _actions(plan.actions) or "only outputs change"
    yield f"{head}: {told if plan.changes else 'nothing to do'}"
    for change in plan.drifted:
        how = "gone" if change.action is Action.DELETE else "changed"
        yield f"{how} since the state was saved: {change.address}"


def _actions(actions: Iterable[PlannedChange]) -> str:
    counts = Counter(_WORDS.get(change.action, str(change.action)) for change in actions)
    return ", ".join(f"{count} {word}" for word, count in counts.items())
