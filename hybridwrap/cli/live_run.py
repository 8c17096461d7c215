"""A run at a terminal: what is at work is rewritten in place, what is done scrolls away above it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Event, RLock, Thread

import click

from hybridwrap.cli.board import Board, Work
from hybridwrap.cli.display import Display
from hybridwrap.cli.ending import FINE, OutputsByModule, last_lines
from hybridwrap.cli.failures import FEW, below, headline, told_again
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.lines import (
    DONE,
    PLANNED,
    cells,
    coloured,
    counted,
    duration,
    faint,
    fitted,
    in_signs,
    padded,
    some,
)
from hybridwrap.cli.live_view import Size, live_lines, name_width
from hybridwrap.cli.scene import Scene
from hybridwrap.cli.steps import NORMAL, VERBOSE, in_words
from hybridwrap.cli.wrapping import wrapped
from hybridwrap.domain.families import module_in
from hybridwrap.domain.pace import usual_seconds
from hybridwrap.domain.ports import EngineEvent
from hybridwrap.domain.run import ModuleEnd, Run, RunEnd, RunStart
from hybridwrap.errors import HybridwrapError

SECONDS = 0.2  # between two looks at what changed
RESULT, COUNTS = 9, 22  # columns
NEVER = (-1, -1)
WARNING = 40  # characters of a warning that is told again


class LiveRun:
    """A Watcher; safe to call from several threads."""

    def __init__(self, scene: Scene, verbosity: int = NORMAL, display: Display | None = None) -> None:
        self._scene = scene
        self._verbosity = verbosity
        self._display = display or Display()
        self._board = Board(scene.clock, scene.needs(scene.modules))
        self._command = ""
        self._earlier: Sequence[Run] = ()
        self._usual: Mapping[str, float] = {}
        self._left: tuple[tuple[int, int], float | None] = (NEVER, None)  # as it was at a second, with so many ends
        self._folded: dict[str, ModuleEnd] = {}  # pending modules that got no line
        self._warned: dict[str, list[str]] = {}  # text -> modules
        self._lock = RLock()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        over = Event()
        Thread(target=self.learn, name="history", daemon=True).start()
        looking = Thread(target=self._look_until, args=(over,), name="display", daemon=True)
        self._display.show()
        looking.start()
        try:
            yield
        finally:
            over.set()
            looking.join()
            with self._lock:
                self._unfold()
                self._display.hide()

    @contextmanager
    def paused(self) -> Iterator[None]:
        with self._lock, self._display.away():
            yield

    def run_began(self, start: RunStart) -> None:
        with self._lock:
            self._command = start.command
            self._board.needs = dict(start.edges)
            self._expect()

    def phase(self, module: str, phase: str) -> None:
        with self._lock:
            self._board.phase(module, phase)

    def event(self, module: str, event: EngineEvent) -> None:
        with self._lock:
            self._board.event(module, event)
            told = in_words(event)
            if told and max(told[0], VERBOSE) <= self._verbosity:
                self._say(module, faint(told[1]))

    def warning(self, module: str, text: str) -> None:
        """Tell it once; of which other modules it holds is told at the end."""
        text = as_typed(text, self._scene.said)
        with self._lock:
            self._warned.setdefault(text, []).append(module)
            if self._warned[text] == [module]:
                told = click.style(f"warning: {text}", fg="yellow")
                self._display.print(f"{padded(module, self._name_width)}  {told}", wrap=True)

    def note(self, text: str) -> None:
        with self._lock:
            self._display.print(click.style(as_typed(text, self._scene.said), fg="yellow"), wrap=True)

    def module_ended(self, module: str, end: ModuleEnd) -> None:
        with self._lock:
            work = self._board.ended(module, end)
            self.refresh()  # else it would be seen twice, as done and at work
            many = len(self._board.needs) > FEW
            if many and end.result == "pending":
                self._folded[module] = end
            elif not (many and end.result == "unchanged"):
                self._ending(module, end, work)

    def run_ended(self, end: RunEnd, outputs: OutputsByModule) -> None:
        counted_up = last_lines(end, outputs, self._board.elapsed(), self._scene.said, command=self._command)
        for line in (*told_again(self._scene, self._board, end.modules), *counted_up):
            for piece in wrapped(line, self._display.console.width):
                self._display.print(piece)

    def refresh(self) -> None:
        """Draw what has changed since the last time."""
        with self._lock:
            size = Size(self._display.console.width, self._display.console.height)
            self._display.draw(live_lines(self._board, self._seconds_left(), self._scene.clock.monotonic(), size))

    def _seconds_left(self) -> float | None:
        """Look at the whole graph once a second, and when a module has ended."""
        at = (int(self._board.elapsed()), len(self._board.ends))
        if self._left[0] != at:
            self._left = (at, self._board.left(self._usual, self._scene.parallelism))
        return self._left[1]

    def _look_until(self, over: Event) -> None:
        while not over.wait(SECONDS):
            self.refresh()

    def learn(self) -> None:
        """Read how long modules took in earlier runs; without that there is no estimate, and all else works."""
        with suppress(HybridwrapError):
            earlier = self._scene.earlier()
            with self._lock:
                self._earlier = earlier
                self._expect()

    def _expect(self) -> None:
        self._usual = usual_seconds(self._earlier, self._command)
        self._left = (NEVER, None)

    def _ending(self, module: str, end: ModuleEnd, work: Work | None) -> None:
        """One line; what does not fit into it stands below."""
        words = counted(end.counts, PLANNED if end.result == "planned" else DONE)
        told = headline(self._scene, module, end, work.phase if work else "")
        room = self._display.console.width - self._name_width - 2
        counted_in = [padded(words, COUNTS), words, in_signs(end.counts), *([""] if end.result in FINE else [])]
        lines = [_ended(end, counts, told) for counts in counted_in]
        fitting = next((line for line in lines if cells(click.unstyle(line)) <= room), "")
        self._say(module, fitting or _ended(end, in_signs(end.counts), ""))
        if told and not fitting:
            self._display.print(told, indent=2, wrap=True)
        if end.result not in FINE:
            for line in below(self._scene, module, end, everything=self._verbosity >= VERBOSE):
                shown = line.lstrip()
                self._display.print(faint(shown), indent=2 + len(line) - len(shown), wrap=not line.startswith("log: "))

    def _unfold(self) -> None:
        """Say in a line for each cause how many modules wait, and for each warning which modules it is about."""
        behind: dict[str, list[str]] = {}
        for module, end in self._folded.items():
            behind.setdefault(_cause(end, self._folded), []).append(module)
        for cause, modules in behind.items():
            self._display.print(f"{coloured('pending')}  {len(modules)} {cause}: {faint(some(modules))}", wrap=True)
        for text, (first, *others) in self._warned.items():
            if others:
                told = f"{fitted(text, WARNING)} ({first}): the same of {some(others)}"
                self._display.print(click.style(told, fg="yellow"), wrap=True)

    def _say(self, module: str, text: str) -> None:
        with self._lock:
            self._display.print(f"{padded(module, self._name_width)}  {text}")

    @property
    def _name_width(self) -> int:
        return name_width(self._board.needs, self._display.console.width)


def _ended(end: ModuleEnd, counts: str, told: str) -> str:
    took = faint(duration(end.seconds)) if end.seconds else ""
    return "  ".join(part for part in (coloured(end.result, RESULT), counts if end.counts else "", told, took) if part)


def _cause(end: ModuleEnd, pending: Mapping[str, ModuleEnd]) -> str:
    """What the first of a chain of waiting modules waits for."""
    while (module := module_in(end.waits_for, pending)) in pending:
        end = pending[module]
    return f"behind {module}" if module else end.reason
