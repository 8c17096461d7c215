"""A run as plain lines, `time module | text`: for logs, pipes and CI systems."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, RLock, Thread

import click

from hybridwrap.cli.annotations import workflow_commands
from hybridwrap.cli.board import Board, Work
from hybridwrap.cli.ending import FINE, OutputsByModule, last_lines
from hybridwrap.cli.failures import below, headline, told_again
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.lines import DONE, PLANNED, cells, coloured, counted, duration, faint, padded, ticking
from hybridwrap.cli.scene import Scene
from hybridwrap.cli.steps import NORMAL, QUIET, VERBOSE, in_words, phase_verbosity
from hybridwrap.counting import first_of
from hybridwrap.domain.ports import EngineEvent
from hybridwrap.domain.run import ModuleEnd, RunEnd, RunStart

SILENCE = 30.0  # seconds after which a line says that the run is alive
NAMED = 3  # modules that such a line names


class PlainLines:
    """A Watcher; safe to call from several threads."""

    def __init__(self, scene: Scene, verbosity: int = NORMAL) -> None:
        self._scene = scene
        self._verbosity = verbosity
        self._board = Board(scene.clock, scene.needs(scene.modules))
        self._width = max(map(cells, scene.modules), default=0)
        self._spoke = scene.clock.monotonic()
        self._command = ""
        context = click.get_current_context(silent=True)
        self._colour = context.color if context else None  # click does not know it in other threads
        self._lock = RLock()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Give signs of life until the block is over."""
        if self._verbosity == QUIET:
            yield
            return
        over = Event()

        def beat() -> None:
            while not over.wait(self._spoke + SILENCE - self._scene.clock.monotonic()):
                self.heartbeat()

        beating = Thread(target=beat, name="heartbeat", daemon=True)
        beating.start()
        try:
            yield
        finally:
            over.set()
            beating.join()

    @contextmanager
    def paused(self) -> Iterator[None]:
        with self._lock:
            yield

    def run_began(self, start: RunStart) -> None:
        with self._lock:
            self._command = start.command
            self._board.needs = dict(start.edges)
            self._width = max(map(cells, start.modules), default=0)

    def phase(self, module: str, phase: str) -> None:
        with self._lock:
            self._board.phase(module, phase)
            self._say(module, faint(f"{phase} …"), phase_verbosity(phase))

    def event(self, module: str, event: EngineEvent) -> None:
        with self._lock:
            self._board.event(module, event)
            if told := in_words(event):
                self._say(module, faint(told[1]), told[0])

    def warning(self, module: str, text: str) -> None:
        self._say(module, click.style(f"warning: {as_typed(text, self._scene.said)}", fg="yellow"), QUIET)

    def note(self, text: str) -> None:
        self._line(as_typed(text, self._scene.said), err=True)

    def module_ended(self, module: str, end: ModuleEnd) -> None:
        with self._lock:
            work = self._board.ended(module, end)
            self._say(module, self._ending(module, end, work), NORMAL if end.result in FINE else QUIET)
            if end.result not in FINE:
                for line in below(self._scene, module, end, everything=self._verbosity >= VERBOSE):
                    self._say(module, faint(line), QUIET)

    def run_ended(self, end: RunEnd, outputs: OutputsByModule) -> None:
        """Close the run: how it stands, what is known, what to type."""
        counted_up = last_lines(end, outputs, self._board.elapsed(), self._scene.said, command=self._command)
        for line in (*told_again(self._scene, self._board, end.modules), *counted_up):
            self._line(line)
        for command in workflow_commands(end.modules, self._scene, os.environ):
            self._line(command, err=True)

    def heartbeat(self) -> None:
        """Say what is going on when nothing was said for a while."""
        with self._lock:
            if self._scene.clock.monotonic() - self._spoke < SILENCE:
                return
            told = [self._going_on(work) for work in self._board.at_work]
            counts = ", ".join(f"{count} {word}" for word, count in self._board.counts.items())
            self._line(f"{self._stamp()} still at work: {first_of(told, NAMED, '; ') or 'waiting'}   {counts}")

    def _going_on(self, work: Work) -> str:
        now = self._scene.clock.monotonic()
        far = f" {work.done} of {work.total}" if work.total else ""
        busy = work.longest_busy
        at = f", {busy.address} {busy.verb} for {ticking(now - busy.since)}" if busy else ""
        return f"{work.module} {work.phase}{far} for {ticking(now - work.since)}{at}"

    def _ending(self, module: str, end: ModuleEnd, work: Work | None) -> str:
        words = PLANNED if end.result == "planned" else DONE
        told = headline(self._scene, module, end, work.phase if work else "")
        took = faint(duration(end.seconds)) if end.seconds else ""
        said = (coloured(end.result, 9), counted(end.counts, words), told, took)
        return "  ".join(part for part in said if part)

    def _say(self, module: str, text: str, verbosity: int) -> None:
        if verbosity <= self._verbosity:
            for line in text.splitlines():
                self._line(f"{self._stamp()} {padded(module, self._width)} | {line}")

    def _stamp(self) -> str:
        return faint(f"{self._scene.clock.now().astimezone():%H:%M:%S}")

    def _line(self, text: str, *, err: bool = False) -> None:
        with self._lock, suppress(OSError):  # the terminal may be gone: the run goes on
            self._spoke = self._scene.clock.monotonic()
            click.echo(text, err=err, color=self._colour)
