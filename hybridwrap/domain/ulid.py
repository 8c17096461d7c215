"""The time that is in an id: ids of runs and operations are ULIDs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32
_TIME_DIGITS = 10
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def made_at(identifier: str) -> datetime | None:
    """When an id was made, None for one that is no ULID."""
    digits = [ALPHABET.find(letter) for letter in identifier[:_TIME_DIGITS]]
    if len(digits) < _TIME_DIGITS or -1 in digits:
        return None
    milliseconds = 0
    for digit in digits:
        milliseconds = milliseconds * len(ALPHABET) + digit
    return _EPOCH + timedelta(milliseconds=milliseconds)
