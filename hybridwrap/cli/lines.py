"""Short texts for people: colours, columns, times, counts."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from unicodedata import category, east_asian_width

import click

from hybridwrap.counting import first_of

COLOURS = {
    "ok": "green",
    "unchanged": "green",
    "running": "cyan",
    "pending": "yellow",
    "busy": "yellow",
    "declined": "yellow",
    "stopped": "yellow",
    "kept": "yellow",
    "retained": "blue",
    "destroyed": "blue",
    "none": "bright_black",
    "planned": "cyan",
    "deferred": "yellow",
    "accepted": "blue",
    "empty": "bright_black",
}
COUNTED_FIRST = (  # of what became of modules; other words follow by the alphabet
    "ok",
    "destroyed",
    "retained",
    "unchanged",
    "empty",
    "planned",
    "deferred",
    "error",
    "unknown",
    "unsent",
    "busy",
    "refused",
    "stopped",
)
GAP = "  "  # between columns
NAMED = 5  # of names that share a line
PLANNED = {"add": "to create", "change": "to change", "remove": "to destroy", "import": "to import"}
SIGNS = {"import": "=", "add": "+", "change": "~", "remove": "-"}
DONE = {"add": "created", "change": "changed", "remove": "destroyed", "import": "imported"}


def coloured(word: str, width: int = 0) -> str:
    """A status or result in its colour; what is not listed is bad news."""
    return click.style(word.ljust(width), fg=COLOURS.get(word, "red"))


def faint(text: str) -> str:
    return click.style(text, fg="bright_black")


def counted(counts: Mapping[str, int], words: Mapping[str, str]) -> str:
    told = [f"{counts[key]} {word}" for key, word in words.items() if counts.get(key)]
    return ", ".join(told)


def in_signs(counts: Mapping[str, int]) -> str:
    """+3 ~1 -2: where there is no room for words."""
    return " ".join(f"{sign}{counts[key]}" for key, sign in SIGNS.items() if counts.get(key))


def in_order(results: Collection[str]) -> list[str]:
    """Results in the order in which they are counted, whatever came first."""
    return [word for word in COUNTED_FIRST if word in results] + sorted(set(results) - set(COUNTED_FIRST))


def some(names: Sequence[str]) -> str:
    """Name the first few, and count the others."""
    return first_of(names, NAMED)


def duration(seconds: float) -> str:
    """4.1s, 1m02, 2h05."""
    return f"{seconds:.1f}s" if seconds < 59.95 else ticking(seconds)  # noqa: PLR2004


def ticking(seconds: float) -> str:
    """4s, 1m02, 2h05: of something that goes on."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes:02}"
    return f"{minutes}m{rest:02}" if minutes else f"{rest}s"


def local_time(rfc3339: str) -> str:
    """The time of day where the reader is; with the date when it is not today's."""
    if not rfc3339:
        return ""
    moment = datetime.fromisoformat(rfc3339).astimezone()
    today = datetime.now(moment.tzinfo).date()
    return f"{moment:%H:%M:%S}" if moment.date() == today else f"{moment:%Y-%m-%d %H:%M}"


def local_moment(rfc3339: str) -> str:
    """The same with the reader's time zone, where no heading names it."""
    return f"{local_time(rfc3339)} {zone(rfc3339)}" if rfc3339 else ""


def zone(rfc3339: str = "") -> str:
    """The name of the reader's time zone at a time, now without one."""
    moment = datetime.fromisoformat(rfc3339) if rfc3339 else datetime.now(UTC)
    return f"{moment.astimezone():%Z}"


def cells(text: str) -> int:
    """How many columns of a terminal a text without colours takes."""
    if text.isascii():
        return len(text)
    return sum(_cells(character) for character in text)


def _cells(character: str) -> int:
    if category(character) in {"Mn", "Me", "Cf"}:  # marks on the character before, joiners
        return 0
    return 2 if east_asian_width(character) in {"W", "F"} else 1


def padded(text: str, width: int) -> str:
    return text + " " * (width - cells(text))


def fitted(text: str, width: int) -> str:
    """Cut the end off a text that is too wide."""
    if cells(text) <= width:
        return text
    kept = ""
    room = width - 1
    for character in text:
        room -= _cells(character)
        if room < 0:
            break
        kept += character
    return f"{kept}…" if width > 0 else ""


def fitted_at_end(text: str, width: int) -> str:
    """Cut the start off a text that is too wide: what an address or a path names stands at its end."""
    return fitted(text[::-1], width)[::-1]


def fitted_in_the_middle(text: str, width: int) -> str:
    """Cut the middle out of a text that is too wide: it begins and ends as what it names does."""
    if cells(text) <= width:
        return text
    head = (width - 1) // 2
    return fitted(text, head + 1)[:-1] + fitted_at_end(text, width - head)


def at_words(text: str, width: int) -> list[str]:
    """Lines of a text, broken between words; `width` 0 means that nothing has to be."""
    return textwrap.wrap(text, width or sys.maxsize, break_long_words=False, break_on_hyphens=False)


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align columns by what a terminal shows of them; the last one is left as it is, colours do not count."""
    shown = [[cells(click.unstyle(cell)) for cell in row] for row in rows]
    widths = [max(column) for column in zip(*shown, strict=True)]
    return [
        GAP.join(
            cell + " " * (width - length) for cell, width, length in zip(row, widths, lengths, strict=True)
        ).rstrip()
        for row, lengths in zip(rows, shown, strict=True)
    ]
