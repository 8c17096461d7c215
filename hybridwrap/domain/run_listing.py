"""How far a shared run is, by the keys of its parts alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import unquote

from msgspec import Struct

from hybridwrap.domain.ports import Listed


class Told(Struct, frozen=True):
    """How a module ended in a part."""

    key: str
    part: str
    module: str
    result: str


class Turn(Struct, frozen=True):
    """The newest time that a process took up a module."""

    key: str
    number: int


class Listing(Struct, frozen=True):
    begun: tuple[str, ...]  # parts, in the order of their making
    ended: frozenset[str]
    told: tuple[Told, ...]
    signs: Mapping[str, str] = {}  # part -> what changes with each of its signs of life
    turns: Mapping[str, Turn] = {}  # by module


def listing_of(prefix: str, items: Iterable[Listed]) -> Listing:
    """Read the keys under a run's prefix; what a newer version has put there is passed over."""
    begun, ended, told = [], set(), []
    signs: dict[str, str] = {}
    turns: dict[str, Turn] = {}
    for item in items:
        match item.key.removeprefix(prefix).removesuffix(".json").split("/"):
            case ["turns", module, number]:
                turns[unquote(module)] = Turn(item.key, int(number))  # keys are in order: the last one counts
            case [part, end]:
                module, _, result = end.rpartition(".")
                told.append(Told(item.key, part, unquote(module), unquote(result)))
            case [name] if name.endswith(".end"):
                ended.add(name.removesuffix(".end"))
            case [name] if name.endswith(".sign"):
                signs[name.removesuffix(".sign")] = item.tag
            case [name] if "." not in name:
                begun.append(name)
    return Listing(tuple(sorted(begun)), frozenset(ended), tuple(told), signs, turns)
