"""How many of a thing there are, in words."""

from __future__ import annotations


def count_of(number: int, thing: str, several: str = "") -> str:
    """1 module, 3 modules; `several` where an s does not make it."""
    return f"{number} {thing if number == 1 else several or f'{thing}s'}"
