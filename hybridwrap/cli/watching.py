"""Something to look at again and again, on a screen of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

import click
from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.cli.lines import cells, faint
from hybridwrap.cli.status_view import Frame
from hybridwrap.cli.wrapping import wrapped
from hybridwrap.errors import HybridwrapError

SECONDS = 2.0
Look = Callable[[Frame], Iterable[str]]


class Seen(Struct, frozen=True):
    """What a look showed, and when; `trouble` says why a later one showed nothing."""

    lines: tuple[str, ...] = ()
    at: str = ""
    trouble: str = ""


def watch(look: Look, wait: Callable[[float], None], now: Callable[[], str]) -> None:
    """Show what `look` says, fitted into the terminal, until Ctrl-C. What can't be read now may be later."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(highlight=False)
    seen = Seen()
    with Live(console=console, auto_refresh=False, screen=True) as live:
        try:
            while True:
                frame = Frame(console.width, console.height)
                seen = looked(seen, look, frame, now)
                live.update(Text.from_ansi("\n".join(screenful(seen, frame))), refresh=True)
                wait(SECONDS)
        except KeyboardInterrupt:
            return


def looked(before: Seen, look: Look, frame: Frame, now: Callable[[], str]) -> Seen:
    """Look again; where nothing can be read, keep what was seen last."""
    try:
        return Seen(tuple(look(replace(frame, height=frame.height - 1))), now())
    except HybridwrapError as error:
        return replace(before, trouble=f"can't be read at {now()}: {error.message}")


def screenful(seen: Seen, frame: Frame) -> list[str]:
    """What was seen, what is the matter now, and how old that is."""
    troubles = [line for text in seen.trouble.splitlines() for line in wrapped(text, frame.width)]
    lines = fitting(seen.lines, replace(frame, height=frame.height - 1 - len(troubles)))
    age = f"as of {seen.at}   " if seen.at else ""
    return [*lines, *(click.style(line, fg="red") for line in troubles), faint(f"{age}Ctrl-C ends this")]


def fitting(lines: Sequence[str], frame: Frame) -> list[str]:
    """Leave lines out before the last one, which says what to type."""
    if not lines:
        return []
    rows = [_rows(cells(click.unstyle(line)), frame.width) for line in lines]
    if sum(rows) <= frame.height:
        return list(lines)
    room = frame.height - rows[-1] - 1
    kept = sum(total <= room for total in accumulate(rows[:-1]))
    return [*lines[:kept], faint(f"{len(lines) - kept - 1} more lines: hybridwrap status -v"), lines[-1]]


def _rows(wide: int, width: int) -> int:
    """How many rows a line takes at most: rich moves a word that is too wide to the next one before it breaks it."""
    return 1 if wide <= width else wide // width + 2
