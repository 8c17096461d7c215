"""The time of day, and ids that sort by it."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime
from threading import Lock

from hybridwrap.domain.ports import Clock
from hybridwrap.domain.ulid import ALPHABET

_RANDOM_BITS = 80


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class Ulids:
    """Mint ULIDs: 48 bits of milliseconds, 80 random bits. Ids of one process are in strict order."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0
        self._lock = Lock()

    def new(self) -> str:
        milliseconds = int(self._clock.now().timestamp() * 1000)
        fresh = milliseconds << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
        with self._lock:
            # two ids of one millisecond, or a clock that was set back
            self._last = fresh if fresh > self._last else self._last + 1
            return _encode(self._last)


def _encode(number: int) -> str:
    return "".join(ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
