"""The engine's own lock on a state: who holds it, and when it is proven to be what a dead engine left behind."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from hybridwrap.domain.engine_run import LockInfo, Stream
from hybridwrap.domain.told_time import GO_ZONE


class StateLock(Struct, frozen=True):
    """A lock, or what lies in a lock's place and is none: that has an id which is made of its content."""

    info: LockInfo
    place: str
    readable: bool = True
    holds: bool = True  # False: a left-over that keeps nobody out

    @property
    def id(self) -> str:
        return self.info.id

    def __str__(self) -> str:
        if not self.readable:
            return f"{self.place} holds no lock that can be read ({self.id})"
        info = self.info
        return f"lock {info.id} of {info.who or 'nobody named'} since {info.since} ({info.command}), at {self.place}"


def was_held_in(stream: Stream, lock: StateLock) -> bool:
    """Whether the engine of the stream held the lock: it is older than a step that only its holder can take.

    True only for a lock that is still there: then it was there at that step, too, and there is one holder at a time.
    """
    made = _moment(lock.info.created)
    steps = [moment for hook in stream.mutations if (moment := _moment(hook.time))]
    return made is not None and any(step >= made for step in steps)


def was_taken_by(lock: StateLock, host: str, since: str) -> bool:
    """Whether a lock names a host, and is not older than a moment."""
    made, moment = _moment(lock.info.created), _moment(since)
    by = lock.info.who.rpartition("@")[2]
    return bool(host) and by == host and made is not None and moment is not None and made >= moment


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.replace(GO_ZONE, "+00:00").replace(" ", "T"))
    except ValueError:
        return None
    return moment if moment.tzinfo else None
