"""Versions and version constraints with the meaning that Terraform gives them: `>= 1.10, != 1.11.0, ~> 1.5`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

_VERSION = re.compile(r"v?(?P<numbers>\d+(?:\.\d+)*)(?:-(?P<prerelease>[0-9A-Za-z.~-]+))?(?:\+[0-9A-Za-z.~-]+)?")
_CONDITION = re.compile(r"\s*(?P<operator>=|!=|>=|<=|>|<|~>|)\s*(?P<version>[^\s<>=!~]\S*)\s*")

_Rank = tuple[tuple[int, ...], bool, tuple[tuple[bool, int, str], ...]]


class Version(Struct, frozen=True):
    """A version; `written` counts its numbers as they were written, `numbers` has at least three."""

    numbers: tuple[int, ...]
    prerelease: str
    written: int

    @property
    def rank(self) -> _Rank:
        """What to compare by: a pre-release comes before its release."""
        parts = tuple(
            (not part.isdigit(), int(part) if part.isdigit() else 0, part)
            for part in self.prerelease.split(".")
            if part
        )
        return self.numbers, not self.prerelease, parts


def parse_version(text: str) -> Version:
    """Read `1.2.3-rc1`; a leading `v` is allowed. Raise ValueError."""
    found = _VERSION.fullmatch(text.strip())
    if not found:
        raise ValueError(f"{text.strip()!r} is not a version")
    numbers = tuple(int(number) for number in found["numbers"].split("."))
    return Version(numbers + (0,) * (3 - len(numbers)), found["prerelease"] or "", len(numbers))


def parse_constraint(text: str) -> tuple[tuple[str, Version], ...]:
    """Read conditions separated by commas, as (operator, version) pairs. Raise ValueError."""
    conditions = []
    for part in text.split(","):
        found = _CONDITION.fullmatch(part)
        if not found:
            raise ValueError(f"{part.strip()!r} is not a version condition such as `>= 1.10` or `~> 1.5`")
        conditions.append((found["operator"] or "=", parse_version(found["version"])))
    return tuple(conditions)


def satisfies(version: str, constraint: str) -> bool:
    """Whether a version meets all conditions; an empty constraint is always met. Raise ValueError for bad text."""
    if not constraint.strip():
        return True
    found = parse_version(version)
    return all(_MEETS[operator](found, wanted) for operator, wanted in parse_constraint(constraint))


def _comparable(found: Version, wanted: Version) -> bool:
    """A pre-release is in no range, but in one that names a pre-release of the same numbers."""
    if not found.prerelease:
        return True
    return bool(wanted.prerelease) and found.numbers == wanted.numbers


def _pessimistic(found: Version, wanted: Version) -> bool:
    if not _comparable(found, wanted) or (wanted.prerelease and not found.prerelease):
        return False
    fixed = wanted.written - 1
    return found.rank >= wanted.rank and found.numbers[:fixed] == wanted.numbers[:fixed]


_MEETS: Mapping[str, Callable[[Version, Version], bool]] = {
    "=": lambda found, wanted: found.rank == wanted.rank,
    "!=": lambda found, wanted: found.rank != wanted.rank,
    ">": lambda found, wanted: _comparable(found, wanted) and found.rank > wanted.rank,
    ">=": lambda found, wanted: _comparable(found, wanted) and found.rank >= wanted.rank,
    "<": lambda found, wanted: _comparable(found, wanted) and found.rank < wanted.rank,
    "<=": lambda found, wanted: _comparable(found, wanted) and found.rank <= wanted.rank,
    "~>": _pessimistic,
}
