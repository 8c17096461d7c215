"""Objects of which nobody knows how they ended: which of them the state accounts for, which can be imported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.engine_run import Action, PlannedChange
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.state import Instance
from hybridwrap.errors import UsageError

STRAY = "(in no state)"  # the address of an object that is known by its id alone


class Open(Struct, frozen=True):
    """The open objects of a module, by what has to be done about them."""

    importable: tuple[CloudObject, ...] = ()  # made, with an id, and in no state
    unanswered: tuple[CloudObject, ...] = ()  # begun, and nobody knows whether it was made
    unfinished: tuple[CloudObject, ...] = ()  # in the state, but its creation or a provisioner came to no end
    displaced: tuple[CloudObject, ...] = ()  # made, and another object has its place in the state
    strays: tuple[CloudObject, ...] = ()  # made, and nobody knows which of the module's resources it is

    @property
    def any(self) -> bool:
        return bool(self.all)

    @property
    def all(self) -> tuple[CloudObject, ...]:
        return (*self.importable, *self.unanswered, *self.unfinished, *self.displaced, *self.strays)


def accounted(objects: Iterable[CloudObject], instances: Sequence[Instance]) -> tuple[CloudObject, ...]:
    """Close what a refreshed state speaks for: an update or a delete without an end is seen by the next plan.

    So is an unfinished object that is tainted, as the next plan replaces it.
    """
    held = {(i.address, i.id): i for i in instances}
    return tuple(_closed(o, held.get((o.address, o.id))) if o.open and o.id else o for o in objects)


def _closed(o: CloudObject, instance: Instance | None) -> CloudObject:
    settled = instance is not None and (instance.tainted or not o.unfinished)
    return replace(o, open=False, unfinished=False) if settled else o


def sort_open(objects: Iterable[CloudObject], instances: Sequence[Instance]) -> Open:
    """Sort the open ones among objects by what has to be done about them."""
    current = {i.address: i for i in instances if not i.deposed}
    parts: dict[str, list[CloudObject]] = {
        "importable": [],
        "unanswered": [],
        "unfinished": [],
        "displaced": [],
        "strays": [],
    }
    for o in objects:
        if o.open:
            parts[_part(o, current.get(o.address))].append(o)
    return Open(**{part: tuple(found) for part, found in parts.items()})


def _part(o: CloudObject, current: Instance | None) -> str:
    if not o.id:
        return "unanswered"
    if o.unfinished:
        return "unfinished"
    if o.address == STRAY:
        return "strays"
    return "importable" if current is None else "displaced"


def perhaps_begun(
    planned: Iterable[PlannedChange], objects: Iterable[CloudObject], instances: Iterable[Instance]
) -> tuple[CloudObject, ...]:
    """What may have been begun where not all that the engine said is known: planned to be made, and seen nowhere.

    That an object is there says nothing about the one that was to replace it.
    """
    begun = {o.address for o in objects if o.open}
    there = begun | {i.address for i in instances}
    return tuple(
        CloudObject(c.address, c.type, open=True)
        for c in planned
        if (c.action is Action.CREATE and c.address not in there)
        or (c.action is Action.REPLACE and c.address not in begun)
    )


def with_ids(objects: Iterable[CloudObject], ids: Mapping[str, str]) -> tuple[CloudObject, ...]:
    """Give unanswered objects the ids that an operator found for them."""
    return tuple(
        replace(o, id_key="id", id=ids[o.address]) if o.open and o.address in ids and not o.id else o for o in objects
    )


def without(objects: Sequence[CloudObject], absent: Sequence[str]) -> tuple[CloudObject, ...]:
    """Take an operator's word that open objects do not exist, each named by its address or `ADDRESS=ID`.

    Raise UsageError for a name that is no open object, or is several.
    """
    gone = {_named(objects, name) for name in absent}
    return tuple(o for o in objects if o not in gone)


def completed(objects: Sequence[CloudObject], complete: Sequence[str]) -> tuple[CloudObject, ...]:
    """Take an operator's word that unfinished objects are as they should be. Raise UsageError as `without` does."""
    done = {_named(objects, name) for name in complete}
    for o in done:
        if not o.unfinished:
            raise UsageError(f"{o.address} is not in the state: it can't be said to be complete")
    return tuple(replace(o, open=False, unfinished=False) if o in done else o for o in objects)


def parse_id(objects: Iterable[CloudObject], text: str) -> tuple[str, str]:
    """Part `ADDRESS=ID`, where the address may hold `=`, too. Raise UsageError unless it names an open object."""
    addresses = {o.address for o in objects if o.open}
    for address in sorted(addresses, key=len, reverse=True):
        if text.startswith(f"{address}=") and len(text) > len(address) + 1:
            return address, text[len(address) + 1 :]
    raise UsageError(f"{text} names no open object; open are: {', '.join(sorted(addresses)) or 'none'}")


def _named(objects: Sequence[CloudObject], name: str) -> CloudObject:
    found = [o for o in objects if o.open and name in (o.address, f"{o.address}={o.id}")]
    if len(found) == 1:
        return found[0]
    names = ", ".join(sorted(f"{o.address}={o.id}" if o.id else o.address for o in objects if o.open)) or "none"
    raise UsageError(f"{name} names {'several open objects' if found else 'no open object'}; open are: {names}")


def import_blocks(objects: Iterable[CloudObject]) -> str:
    """Write import blocks for the engine's language."""
    return "\n".join(f'import {{\n  to = {o.address}\n  id = "{_quoted(o.id)}"\n}}\n' for o in objects)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return escaped.replace("${", "$${").replace("%{", "%%{")
