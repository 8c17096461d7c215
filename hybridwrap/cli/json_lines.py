"""A run as one JSON event per line (schema events.v1), for programs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from threading import Lock

import click
from msgspec.structs import replace

from hybridwrap.cli.ending import OutputsByModule
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.options import Place
from hybridwrap.domain.charter import stamp
from hybridwrap.domain.codec import plain
from hybridwrap.domain.engine_run import Diagnostic, Hook
from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.ports import Clock, EngineEvent
from hybridwrap.domain.run import ModuleEnd, RunEnd, RunStart


class JsonLines:
    """A Watcher that writes on stdout; the last line is the result."""

    def __init__(self, clock: Clock, place: Place) -> None:
        self._clock = clock
        self._place = place
        self._lock = Lock()

    def at_work(self) -> AbstractContextManager[None]:
        return nullcontext()

    def paused(self) -> AbstractContextManager[None]:
        return nullcontext()

    def run_began(self, start: RunStart) -> None:
        edges = {name: list(needs) for name, needs in start.edges.items()}
        self._write("run_began", run=start.run, command=start.command, modules=list(start.modules), edges=edges)

    def phase(self, module: str, phase: str) -> None:
        self._write("phase", module=module, phase=phase)

    def event(self, module: str, event: EngineEvent) -> None:
        match event:
            case Hook():
                about = plain(event)  # its own type and time would hide those of the line
                self._write("object", module=module, resource_type=about.pop("type"), at=about.pop("time"), **about)
            case Diagnostic():
                self._write("diagnostic", module=module, **plain(event))

    def warning(self, module: str, text: str) -> None:
        self._write("warning", module=module, text=as_typed(text, self._place))

    def note(self, text: str) -> None:
        self._write("note", text=as_typed(text, self._place))

    def module_ended(self, module: str, end: ModuleEnd) -> None:
        self._write("module_ended", module=module, **plain(replace(end, hint=as_typed(end.hint, self._place))))

    def run_ended(self, end: RunEnd, _outputs: OutputsByModule) -> None:
        modules = {name: module_end.result for name, module_end in end.modules.items()}
        self._write("result", run=end.run, exit_code=end.exit_code, modules=modules)

    def fact(self, kind: str, fields: Mapping[str, Json]) -> None:
        """Tell what only one command tells."""
        self._write(kind, **fields)

    def _write(self, kind: str, **fields: Json) -> None:
        with self._lock, suppress(OSError):  # its reader may be gone: the run goes on
            click.echo(canonical({"version": 1, "time": stamp(self._clock.now()), "type": kind, **fields}))
