"""Something to look at again and again, on a screen of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

import click

from hybridwrap.cli.lines import cells, faint
from hybridwrap.cli.status_view import Frame
from hybridwrap.errors import HybridwrapError

SECONDS = 2.0


def watch(look: Callable[[Frame], Iterable[str]], wait: Callable[[float], None]) -> None:
    """Show what `look` says, fitted into the terminal, until Ctrl-C. What can't be read now may be later."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(highlight=False)
    with Live(console=console, auto_refresh=False, screen=True) as live:
        try:
            while True:
                frame = Frame(console.width, console.height - 1)
                lines = fitting(_told(look, frame), frame)
                live.update(Text.from_ansi("\n".join([*lines, faint("Ctrl-C ends this")])), refresh=True)
                wait(SECONDS)
        except KeyboardInterrupt:
            return


def fitting(lines: Sequence[str], frame: Frame) -> list[str]:
    """Leave lines out before the last one, which says what to type."""
    rows = [_rows(cells(click.unstyle(line)), frame.width) for line in lines]
    if sum(rows) <= frame.height:
        return list(lines)
    room = frame.height - rows[-1] - 1
    kept = sum(total <= room for total in accumulate(rows[:-1]))
    return [*lines[:kept], faint(f"{len(lines) - kept - 1} more lines: hybridwrap status -v"), lines[-1]]


def _rows(wide: int, width: int) -> int:
    """How many rows a line takes at most: rich moves a word that is too wide to the next one before it breaks it."""
    return 1 if wide <= width else wide // width + 2


def _told(look: Callable[[Frame], Iterable[str]], frame: Frame) -> list[str]:
    try:
        return list(look(frame))
    except HybridwrapError as error:
        return [error.message]
