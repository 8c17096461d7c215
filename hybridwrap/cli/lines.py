"""Short texts for people: colours, columns, times, counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import click

COLOURS = {
    "ok": "green",
    "unchanged": "green",
    "running": "cyan",
    "pending": "yellow",
    "busy": "yellow",
    "declined": "yellow",
    "stopped": "yellow",
    "retained": "blue",
    "destroyed": "blue",
    "none": "bright_black",
}
PLANNED = {"add": "to create", "change": "to change", "remove": "to destroy", "import": "to import"}
DONE = {"add": "created", "change": "changed", "remove": "destroyed", "import": "imported"}


def coloured(word: str, width: int = 0) -> str:
    """A status or result in its colour; what is not listed is bad news."""
    return click.style(word.ljust(width), fg=COLOURS.get(word, "red"))


def faint(text: str) -> str:
    return click.style(text, fg="bright_black")


def counted(counts: Mapping[str, int], words: Mapping[str, str]) -> str:
    told = [f"{counts[key]} {word}" for key, word in words.items() if counts.get(key)]
    return ", ".join(told)


def duration(seconds: float) -> str:
    """4.1s, 1m02, 2h05."""
    if seconds < 60:  # noqa: PLR2004
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}" if hours else f"{minutes}m{rest:02}"


def local_time(rfc3339: str) -> str:
    """The time of day where the reader is; with the date when it is not today's."""
    if not rfc3339:
        return ""
    moment = datetime.fromisoformat(rfc3339).astimezone()
    today = datetime.now(moment.tzinfo).date()
    return f"{moment:%H:%M:%S}" if moment.date() == today else f"{moment:%Y-%m-%d %H:%M}"


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align columns by what a terminal shows of them; the last one is left as it is, colours do not count."""
    from rich.cells import cell_len

    shown = [[cell_len(click.unstyle(cell)) for cell in row] for row in rows]
    widths = [max(column) for column in zip(*shown, strict=True)]
    return [
        "  ".join(
            cell + " " * (width - length) for cell, width, length in zip(row, widths, lengths, strict=True)
        ).rstrip()
        for row, lengths in zip(rows, shown, strict=True)
    ]
