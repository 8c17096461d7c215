"""Names for modules and stacks out of the names of their folders: usable in a manifest, and each one once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

LONGEST = 64
_OTHERS = re.compile(r"[^A-Za-z0-9_]+")


def usable(text: str, otherwise: str) -> str:
    """Turn a text into a name: other characters become dashes, none of them at an end."""
    name = _OTHERS.sub("-", text).strip("-")[:LONGEST].rstrip("-")
    return name or otherwise


def module_names(paths: Sequence[Path], root: Path) -> Mapping[Path, str]:
    """Name each folder by its last part, and by as many more as it takes to tell it from the others."""
    parts = {path: path.relative_to(root).parts or (root.name,) for path in paths}
    taken = dict.fromkeys(paths, 1)
    while clashing := _clashing(paths, parts, taken):
        for path in clashing:
            taken[path] += 1
    names = {path: _name(parts[path], taken[path]) for path in paths}
    return _numbered(names)


def _name(parts: tuple[str, ...], taken: int) -> str:
    return usable("-".join(parts[-taken:]), "module")


def _clashing(paths: Sequence[Path], parts: Mapping[Path, tuple[str, ...]], taken: Mapping[Path, int]) -> list[Path]:
    """Those whose name is not their own and can still be made longer; case tells nothing apart on some disks."""
    names = {path: _name(parts[path], taken[path]).lower() for path in paths}
    counts = Counter(names.values())
    return [path for path in paths if counts[names[path]] > 1 and taken[path] < len(parts[path])]


def _numbered(names: Mapping[Path, str]) -> Mapping[Path, str]:
    """Number what is still the same: names that differed only in characters that can't be used, or were cut."""
    taken: set[str] = set()
    found: dict[Path, str] = {}
    for path, name in names.items():
        ways = (name, *(f"{name[: LONGEST - len(str(n)) - 1]}-{n}" for n in range(2, len(names) + 2)))
        found[path] = next(way for way in ways if way.lower() not in taken)
        taken.add(found[path].lower())
    return found
