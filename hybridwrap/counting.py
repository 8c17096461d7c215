"""How many of a thing there are, and which, in words."""

from __future__ import annotations

from collections.abc import Sequence


def count_of(number: int, thing: str, several: str = "") -> str:
    """1 module, 3 modules; `several` where an s does not make it."""
    return f"{number} {thing if number == 1 else several or f'{thing}s'}"


def first_of(names: Sequence[str], most: int, between: str = ", ") -> str:
    """a, b and 3 more: the first few names, and how many there are besides."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return between.join(names[:most]) + more
