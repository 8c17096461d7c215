"""The environment of a module's engine whose credentials a command prints: asked for when they are first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from threading import Lock

from hybridwrap.adapters.printed_credentials import Printed, laid_over, secret_in


class LiveEnvironment(Mapping[str, str]):
    """`given` with what `ask` returns laid over it. Reading it raises what `ask` raises; safe for several threads."""

    def __init__(self, given: Mapping[str, str], ask: Callable[[], Printed]) -> None:
        self.given = given
        self._ask = ask
        self._lock = Lock()
        self._now: dict[str, str] | None = None

    def renew(self) -> dict[str, str]:
        """Ask again; return what is secret of the answer. After a failure all stays as it was."""
        with self._lock:
            return self._renewed()

    def __getitem__(self, name: str) -> str:
        return self._current()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._current())

    def __len__(self) -> int:
        return len(self._current())

    def _current(self) -> dict[str, str]:
        with self._lock:
            if self._now is None:
                self._renewed()
            return self._now or {}

    def _renewed(self) -> dict[str, str]:
        printed = self._ask()
        self._now = laid_over(self.given, printed)
        return secret_in(printed)
