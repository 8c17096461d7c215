"""The wish to stop: set by a signal, a deadline or --fail-fast, asked by whoever is about to start something.

Keeps: each living engine gets one interrupt at the first signal or at a deadline, none at the second signal, and one
more only at a third within ten seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Protocol

from hybridwrap.counting import count_of
from hybridwrap.domain.duration import in_words
from hybridwrap.domain.entry import Signal
from hybridwrap.domain.ports import Clock

THIRD_WITHIN_SECONDS = 10.0
LOOK_SECONDS = 0.2


class Interrupt(Protocol):
    def __call__(self, *, again: bool = False) -> int:
        """Send SIGINT to each living engine that has had none, or `again` to all; say to how many."""


@dataclass
class Stop:
    """One run's stop. The engines are interrupted by themselves when `timeout_seconds` are over."""

    clock: Clock
    interrupt: Interrupt
    timeout_seconds: float = inf
    signals: list[Signal] = field(default_factory=list)
    _reason: str = ""
    _moments: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.deadline = self.clock.monotonic() + self.timeout_seconds

    @property
    def wanted(self) -> bool:
        return bool(self.reason)

    @property
    def reason(self) -> str:
        if self._reason or not self.late:
            return self._reason
        return f"the time of the run was up after {in_words(self.timeout_seconds)}"

    @property
    def late(self) -> bool:
        return self.clock.monotonic() >= self.deadline

    @property
    def seconds_left(self) -> float:
        return self.deadline - self.clock.monotonic()

    @property
    def terminated(self) -> bool:
        return bool(self.signals) and self.signals[0].name == "SIGTERM"

    def no_more(self, reason: str) -> None:
        """Start nothing more; what runs goes on to its end."""
        self._reason = self.reason or reason

    def wait(self, seconds: float) -> bool:
        """Wait for a time, or until nothing more may start; say whether something may."""
        until = self.clock.monotonic() + seconds
        while not self.wanted and (left := until - self.clock.monotonic()) > 0:
            self.clock.sleep(min(left, LOOK_SECONDS))
        return not self.wanted

    def signalled(self, name: str) -> str:
        """Take one signal; return what to tell the person who sent it."""
        self.signals.append(Signal(name, self.clock.now().isoformat()))
        self._moments.append(self.clock.monotonic())
        self.no_more(f"stopped by {name}")
        if len(self._moments) == 1:
            count = self.interrupt()
            ending = f"ending {count_of(count, 'engine')} gracefully; " if count else ""
            return f"{name}: {ending}nothing new starts"
        if len(self._moments) >= 3 and self._moments[-1] - self._moments[-3] <= THIRD_WITHIN_SECONDS:  # noqa: PLR2004
            engines = count_of(self.interrupt(again=True), "engine")
            return f"{name}: interrupted {engines} again; the outcome may be unknown"
        return f"{name}: still waiting for the engine to save its state; twice more within 10 s interrupts it again"
