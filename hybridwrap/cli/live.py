"""What people see while a run is at work: one plain line for each thing that matters."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from threading import Lock

import click

from hybridwrap.cli.ending import OutputsByModule, last_lines
from hybridwrap.cli.lines import DONE, PLANNED, coloured, counted, duration, faint
from hybridwrap.domain.engine_run import Diagnostic
from hybridwrap.domain.ports import Clock, EngineEvent
from hybridwrap.domain.run import ModuleEnd, RunEnd, RunStart


class PlainLines:
    """A Watcher that writes `time module | text`; safe to call from several threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = clock.monotonic()
        self._width = 0
        self._lock = Lock()

    def run_began(self, start: RunStart) -> None:
        self._width = max(map(len, start.modules), default=0)

    def phase(self, module: str, phase: str) -> None:
        if phase in ("apply", "destroy"):
            self._say(module, faint(f"{phase} …"))

    def event(self, module: str, event: EngineEvent) -> None:
        if isinstance(event, Diagnostic) and event.severity == "error":
            self._say(module, told(event))

    def warning(self, module: str, text: str) -> None:
        self._say(module, click.style(f"warning: {text}", fg="yellow"))

    def note(self, text: str) -> None:
        self._line(text, err=True)

    def module_ended(self, module: str, end: ModuleEnd) -> None:
        counts = counted(end.counts, PLANNED if end.result == "planned" else DONE)
        said = [coloured(end.result, 9), counts, *end.reason.splitlines()[:1]]
        took = faint(duration(end.seconds)) if end.seconds else ""
        self._say(module, "  ".join(part for part in (*said, took) if part), more=end.reason.splitlines()[1:])

    def run_ended(self, end: RunEnd, outputs: OutputsByModule) -> None:
        """Close the run: how it stands, what is known, what to type."""
        seconds = self._clock.monotonic() - self._began
        for line in last_lines(end.modules, outputs, seconds):
            self._line(line)

    def _say(self, module: str, text: str, more: Sequence[str] = ()) -> None:
        stamp = faint(f"{self._clock.now().astimezone():%H:%M:%S}")
        self._line("\n".join([f"{stamp} {module.ljust(self._width)} | {text}", *more]))

    def _line(self, text: str, *, err: bool = False) -> None:
        with self._lock, suppress(OSError):  # the terminal may be gone: the run goes on
            click.echo(text, err=err)


def told(error: Diagnostic) -> str:
    """One error in a line: address, summary, place."""
    place = f"  {error.file}:{error.line}" if error.file else ""
    return f"{error.address + ': ' if error.address else ''}{error.summary}{place}"
