"""Words for values and near misses, the same in every message about a manifest."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from hybridwrap.domain.json import Json

MAX_SHOWN = 40  # characters of a text
MAX_LISTED = 12  # names


def describe(value: Json) -> str:
    """Say what a value is: `the text "abc"`, `a list`."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case int() | Decimal():
            return f"the number {value}"
        case str():
            return f'the text "{shorten(value)}"'
        case list():
            return "a list"
        case _:
            return "a mapping"


def shorten(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """End a message about an unknown name: `; did you mean "x"?`, or what there is, or nothing."""
    import difflib

    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6) or [n for n in names if n.lower() == name.lower()]
    if near:
        return f'; did you mean "{near[0]}"?'
    return f"; there is: {', '.join(names)}" if 0 < len(names) <= MAX_LISTED else ""
