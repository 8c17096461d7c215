"""A recorded time as people read it: UTC, to the second."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

GO_ZONE = " +0000 UTC"  # how the engine prints a time in its messages; in a lock's own document it is RFC 3339


def in_utc(time: str) -> str:
    """What can't be read stays as it is: others write some of these times."""
    with suppress(ValueError):
        moment = datetime.fromisoformat(time.removesuffix(GO_ZONE))
        known = moment.astimezone(UTC) if moment.tzinfo else moment
        return f"{known:%Y-%m-%d %H:%M:%S} UTC"
    return time
