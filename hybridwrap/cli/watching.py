"""Something to look at again and again, on a screen of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hybridwrap.cli.lines import faint
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
                lines = [*_told(look, frame)][: frame.height]
                live.update(Text.from_ansi("\n".join([*lines, faint("Ctrl-C ends this")])), refresh=True)
                wait(SECONDS)
        except KeyboardInterrupt:
            return


def _told(look: Callable[[Frame], Iterable[str]], frame: Frame) -> list[str]:
    try:
        return list(look(frame))
    except HybridwrapError as error:
        return [error.message]
