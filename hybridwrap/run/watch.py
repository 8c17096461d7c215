"""Who is told what happens while a run is at work."""

from __future__ import annotations

from typing import Protocol

from hybridwrap.domain.ports import EngineEvent
from hybridwrap.domain.run import ModuleEnd, RunStart


class Watcher(Protocol):
    """Called from the threads of a run, in the order in which things happen to one module."""

    def run_began(self, start: RunStart) -> None: ...

    def phase(self, module: str, phase: str) -> None:
        """A module enters a phase: init, plan, apply, destroy, record."""

    def event(self, module: str, event: EngineEvent) -> None: ...

    def warning(self, module: str, text: str) -> None: ...

    def note(self, text: str) -> None:
        """Something about the whole run."""

    def module_ended(self, module: str, end: ModuleEnd) -> None: ...
