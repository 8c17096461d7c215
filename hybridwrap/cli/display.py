"""Lines at the bottom of a terminal that are rewritten in place; what is printed meanwhile scrolls away above them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from rich.console import Console
from rich.live import Live
from rich.padding import Padding
from rich.segment import Segment, Segments
from rich.text import Text

from hybridwrap.cli.live_view import Line


class Display:
    """For one thread at a time. A terminal that is gone is no error: the run goes on."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False, _environ=_without_a_size())
        self._live: Live | None = None
        self._drawn: Sequence[Line] = ()

    def show(self) -> None:
        with suppress(OSError):
            self._live = Live(console=self.console, auto_refresh=False, transient=True)
            self._live.start()

    def hide(self) -> None:
        """Take the lines away, and leave the cursor where they began."""
        live, self._live, self._drawn = self._live, None, ()
        if live:
            with suppress(OSError):
                live.stop()

    @contextmanager
    def away(self) -> Iterator[None]:
        """Give the terminal to the block."""
        shown = self._live is not None
        self.hide()
        try:
            yield
        finally:
            if shown:
                self.show()

    def draw(self, lines: Sequence[Line]) -> None:
        """Put these lines there; nothing is written when they are there already."""
        if self._live and lines != self._drawn:
            self._drawn = lines
            with suppress(OSError):
                self._live.update(Segments(list(_segments(lines, self.console))), refresh=True)

    def print(self, text: str, *, indent: int = 0, wrap: bool = False) -> None:
        """Print above the lines; `wrap` breaks a long text between words, else only the terminal breaks it."""
        shown = Text.from_ansi(text)
        with suppress(OSError):
            if wrap:
                self.console.print(Padding(shown, (0, 0, 0, indent)))
            else:
                self.console.print(Text(" " * indent) + shown, soft_wrap=True)


def _without_a_size() -> dict[str, str]:
    """The environment; its COLUMNS may be those of another terminal, and lines that wrap can't be rewritten."""
    return {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}


def _segments(lines: Iterable[Line], console: Console) -> Iterator[Segment]:
    for index, line in enumerate(lines):
        if index:
            yield Segment.line()
        for text, style in line:
            yield Segment(text, console.get_style(style) if style else None)
