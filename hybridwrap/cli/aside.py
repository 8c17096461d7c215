"""What is said before a run begins: on stderr, whatever stdout is for."""

from __future__ import annotations

import click

from hybridwrap.domain.ports import EngineEvent
from hybridwrap.domain.run import ModuleEnd, RunStart


class Aside:
    """A Watcher for work that is no run."""

    def run_began(self, start: RunStart) -> None: ...

    def phase(self, module: str, phase: str) -> None: ...

    def event(self, module: str, event: EngineEvent) -> None: ...

    def module_ended(self, module: str, end: ModuleEnd) -> None: ...

    def warning(self, module: str, text: str) -> None:
        click.echo(f"{module}: {text}", err=True)

    def note(self, text: str) -> None:
        click.echo(text, err=True)
