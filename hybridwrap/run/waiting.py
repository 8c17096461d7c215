"""Waiting for somebody else: said at once and every 30 seconds, and remembered for the record."""

from __future__ import annotations

from math import inf

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.charter import stamp
from hybridwrap.domain.duration import in_words
from hybridwrap.domain.ports import Clock
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.errors import Stopped
from hybridwrap.run.stop import Stop
from hybridwrap.run.watch import Watcher

SAY_AGAIN_SECONDS = 30.0
LOOK_AGAIN_SECONDS = 2.0


class Waited(Struct, frozen=True):
    seconds: float
    what: str  # for whom or what
    until: str


class Waits:
    """How long each module of a run was waited for, all waits together."""

    def __init__(self) -> None:
        self._by_module: dict[str, Waited] = {}

    def add(self, module: str, seconds: float, what: str, until: str) -> None:
        before = self._by_module.get(module)
        self._by_module[module] = Waited(seconds + (before.seconds if before else 0.0), what, until)

    def noted(self, module: str, end: ModuleEnd) -> ModuleEnd:
        """An end with what was waited for; its turn came after that."""
        waited = self._by_module.get(module)
        if waited is None:
            return end
        return replace(end, began=waited.until, waited=waited.seconds, waited_for=waited.what)


class Waiting:
    """One wait of one module."""

    def __init__(self, clock: Clock, stop: Stop, watch: Watcher, waits: Waits, module: str) -> None:
        self._clock = clock
        self._stop = stop
        self._watch = watch
        self._waits = waits
        self._module = module
        self._began = clock.monotonic()
        self._said = -inf

    @property
    def seconds(self) -> float:
        """How long it has been so far."""
        return self._clock.monotonic() - self._began

    def a_while(self, what: str) -> None:
        """Wait until it is time to look again. Raise Stopped when the run is to stop."""
        before = self.seconds
        if before - self._said >= SAY_AGAIN_SECONDS:
            so_far = f" ({in_words(round(before))} so far)" if before >= 1 else ""
            self._watch.warning(self._module, f"waiting for {what}{so_far}")
            self._said = before
        goes_on = self._stop.wait(LOOK_AGAIN_SECONDS)
        self._waits.add(self._module, self.seconds - before, what, stamp(self._clock.now()))
        if not goes_on:
            raise Stopped(self._stop.reason)
