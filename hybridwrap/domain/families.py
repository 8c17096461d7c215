"""Names of modules of which there is one for each of several values: FAMILY.KEY; no other module's name has a dot."""

from __future__ import annotations

from collections.abc import Iterable


def instances(family: str, names: Iterable[str]) -> tuple[str, ...]:
    """Those of the names that are instances of a family, in their order."""
    return tuple(name for name in names if name.startswith(f"{family}."))


def family_of(name: str) -> str:
    """The family of an instance, "" for any other module."""
    return name.partition(".")[0] if "." in name else ""
