"""In which order modules are torn down: what must be gone before each of them may begin."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from hybridwrap.domain.graph import Needs, cycle, reversed_edges
from hybridwrap.domain.record import Record
from hybridwrap.domain.stack import Stack
from hybridwrap.domain.status import Status

OUT_OF_THE_WAY = frozenset({Status.NONE, Status.DESTROYED, Status.RETAINED})

Owned = Mapping[str, str]  # module -> the owner that it goes with


def needs_of(stack: Stack, records: Mapping[str, Record]) -> dict[str, tuple[str, ...]]:
    """What every module needs: the declared ones, and as recorded those that only the ledger knows."""
    recorded = {name: told.needs for name, record in records.items() if (told := record.last_declared)}
    return {**recorded, **{name: module.needs for name, module in stack.modules.items()}}


def owned_in(records: Mapping[str, Record], alone: Collection[str]) -> dict[str, str]:
    """Which modules go with their owners: those whose record says so, but for those that are torn down `alone`.

    By the record, not by the manifest: what was applied before it had an owner has no life of an owner to go with.
    """
    owners = {name: owner_of(record, records) for name, record in records.items() if name not in alone}
    return {name: owner for name, owner in owners.items() if owner}


def owner_of(record: Record, records: Mapping[str, Record]) -> str:
    """The module that another goes with, by its name of today; "" when it goes with none."""
    life = record.owner_incarnation
    if not life or record.declared is None:
        return ""
    return next((name for name, each in records.items() if each.incarnation == life), record.declared.owner)


def go_before(needs: Needs, owned: Owned) -> dict[str, tuple[str, ...]]:
    """For each module those that must be out of the way before it, in alphabetical order.

    These are its dependants. One that goes with its owner waits for that; its own dependants must be gone before the
    owner is. Where that would make a circle, the module does not go with its owner.
    """
    dependants = reversed_edges(needs)
    while True:
        found = {name: _before(name, dependants, owned) for name in dependants}
        circle = set(cycle(found)) & set(owned)
        if not circle:
            return found
        owned = {child: owner for child, owner in owned.items() if child != min(circle)}


def _before(name: str, dependants: Needs, owned: Owned) -> tuple[str, ...]:
    if name in owned:
        return (owned[name],)
    taken = (name, *goes_with(name, owned))
    followers = {each for one in taken for each in dependants.get(one, ())}
    return tuple(sorted(followers - set(taken)))


def goes_with(name: str, owned: Owned) -> tuple[str, ...]:
    """What goes with a module, directly or with one that does."""
    found = [name]
    for each in found:
        found += sorted(child for child, owner in owned.items() if owner == each and child not in found)
    return tuple(found[1:])


def rests_on(needs: Sequence[str], records: Mapping[str, Record]) -> tuple[str, ...]:
    """What must stay while a module is applied: what it needs, and those that take that with them."""
    found = list(needs)
    for each in found:
        owner = owner_of(records.get(each, Record(each)), records)
        found += [owner] if owner and owner not in found else []
    return tuple(found)


def in_the_way(record: Record) -> bool:
    """Whether a module has or may have objects that others must outlive."""
    return record.holder is not None or record.settled not in OUT_OF_THE_WAY


def keeps_in_buckets(record: Record, records: Mapping[str, Record], ledger_bucket: str) -> tuple[str, ...]:
    """Say which buckets of a module hold the ledger, or the state of a module that may still have something."""
    states: dict[str, list[str]] = {}
    for name, each in records.items():
        if each.state and in_the_way(each):
            states.setdefault(each.state.place.bucket, []).append(name)
    held = {bucket: f"the state of {', '.join(names)}" for bucket, names in states.items()}
    held[ledger_bucket] = "the ledger"
    buckets = [o for o in record.objects if o.id and o.type.endswith("_s3_bucket") and o.id in held]
    return tuple(f"{o.address} ({held[o.id]} lies in it)" for o in buckets)
