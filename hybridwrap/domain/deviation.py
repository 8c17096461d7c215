"""How one real object differs from the engine's state, with values: for those who look now, never for the ledger."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from hybridwrap.domain.drift import Difference
from hybridwrap.domain.engine_run import Action
from hybridwrap.domain.json import Json

MOST_PATHS = 50  # of one object; where more differ, their top-level attributes are named


class Change(Struct, frozen=True):
    """One attribute that differs."""

    path: str
    before: Json = None
    after: Json = None
    hidden: bool = False  # the values are left out


class Deviation(Struct, frozen=True):
    address: str
    action: Action
    type: str = ""
    changes: tuple[Change, ...] = ()

    @property
    def difference(self) -> Difference:
        """What the ledger keeps of it."""
        return Difference(self.address, self.action, self.type, tuple(change.path for change in self.changes))


class Marks(Struct, frozen=True):
    """Which parts of a value are sensitive: `marks` has the value's shape, with true in its place."""

    marks: Json

    @property
    def whole(self) -> bool:
        return self.marks is True

    @property
    def somewhere(self) -> bool:
        return _marked(self.marks)

    def at(self, key: str | int) -> Marks:
        match self.marks, key:
            case dict() as marks, str():
                return Marks(marks.get(key))
            case list() as marks, int() if key < len(marks):
                return Marks(marks[key])
        return Marks(self.whole)


def changes_between(before: Json, after: Json, secret: tuple[Marks, ...]) -> tuple[Change, ...]:
    """Compare an object's attributes; `secret` are the marks of both sides."""
    found = tuple(islice(_changes(before, after, secret, ""), MOST_PATHS + 1))
    if len(found) <= MOST_PATHS:
        return found
    old, new = before or {}, after or {}
    names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    return tuple(Change(name, hidden=True) for name in names)  # all of its values together are too much to show


def _changes(before: Json, after: Json, secret: tuple[Marks, ...], path: str) -> Iterator[Change]:
    if before == after:
        return
    if any(marks.whole for marks in secret):
        yield Change(path, hidden=True)
        return
    keys = _shared_keys(before, after)
    for key in keys:
        below = tuple(marks.at(key) for marks in secret)
        yield from _changes(_at(before, key), _at(after, key), below, _joined(path, key))
    if not keys:
        yield Change(path, hidden=True) if any(marks.somewhere for marks in secret) else Change(path, before, after)


def _shared_keys(before: Json, after: Json) -> list[str] | list[int]:
    """The parts in which two values can be compared; none when they differ as a whole."""
    match before, after:
        case dict(), dict():
            return sorted({*before, *after})
        case list(), list() if len(before) == len(after):
            return list(range(len(before)))
    return []


def _at(value: Json, key: str | int) -> Json:
    return value.get(key) if isinstance(value, dict) else value[key]


def _joined(path: str, key: str | int) -> str:
    if isinstance(key, int):
        return f"{path}[{key}]"
    plain = key.replace("-", "_").isidentifier()
    if not path:
        return key
    return f"{path}.{key}" if plain else f'{path}["{key}"]'


def _marked(marks: Json) -> bool:
    """Whether anything at all inside of a value is sensitive."""
    match marks:
        case dict():
            return any(map(_marked, marks.values()))
        case list():
            return any(map(_marked, marks))
    return marks is True
