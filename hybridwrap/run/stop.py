"""The wish to stop: set by a signal, a deadline or --fail-fast, asked by whoever is about to start something.

Keeps: each living engine gets one interrupt at the first signal, none at the second, one at a third within ten seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hybridwrap.domain.entry import Signal
from hybridwrap.domain.ports import Clock

THIRD_WITHIN_SECONDS = 10.0


@dataclass
class Stop:
    """One run's stop; `interrupt` sends SIGINT to each living engine and says to how many."""

    clock: Clock
    interrupt: Callable[[], int]
    signals: list[Signal] = field(default_factory=list)
    reason: str = ""
    _moments: list[float] = field(default_factory=list)

    @property
    def wanted(self) -> bool:
        return bool(self.reason)

    @property
    def terminated(self) -> bool:
        return bool(self.signals) and self.signals[0].name == "SIGTERM"

    def no_more(self, reason: str) -> None:
        """Start nothing more; what runs goes on to its end."""
        self.reason = self.reason or reason

    def signalled(self, name: str) -> str:
        """Take one signal; return what to tell the person who sent it."""
        self.signals.append(Signal(name, self.clock.now().isoformat()))
        self._moments.append(self.clock.monotonic())
        self.no_more(f"stopped by {name}")
        if len(self._moments) == 1:
            return f"{name}: ending {_engines(self.interrupt())} gracefully; nothing new starts"
        if len(self._moments) >= 3 and self._moments[-1] - self._moments[-3] <= THIRD_WITHIN_SECONDS:  # noqa: PLR2004
            return f"{name}: interrupted {_engines(self.interrupt())} again; the outcome may be unknown"
        return f"{name}: still waiting for the engine to save its state; twice more within 10 s interrupts it again"


def _engines(count: int) -> str:
    return "1 engine" if count == 1 else f"{count} engines"
