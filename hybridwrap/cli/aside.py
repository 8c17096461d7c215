"""What is said before a run begins: on stderr, whatever stdout is for."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import click

from hybridwrap.cli.ending import OutputsByModule
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.options import Place
from hybridwrap.domain.ports import EngineEvent
from hybridwrap.domain.run import ModuleEnd, RunEnd, RunStart


class Aside:
    """A Teller for work that is no run, or whose result is told after it."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def at_work(self) -> AbstractContextManager[None]:
        return nullcontext()

    def paused(self) -> AbstractContextManager[None]:
        return nullcontext()

    def run_ended(self, end: RunEnd, _outputs: OutputsByModule) -> None: ...

    def run_began(self, start: RunStart) -> None: ...

    def phase(self, module: str, phase: str) -> None: ...

    def event(self, module: str, event: EngineEvent) -> None: ...

    def module_ended(self, module: str, end: ModuleEnd) -> None: ...

    def warning(self, module: str, text: str) -> None:
        click.echo(f"{module}: {as_typed(text, self._place)}", err=True)

    def note(self, text: str) -> None:
        click.echo(as_typed(text, self._place), err=True)
