"""Spans of time as people write them: 45s, 30m, 1h30m, or a number of seconds."""

from __future__ import annotations

import re

_WRITTEN = re.compile(r"(?=.)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?")
_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_NUMBER = re.compile(r"\d+(\.\d+)?")


def seconds_in(text: str) -> float:
    """Read a span of time. Raise ValueError for what is none."""
    if _NUMBER.fullmatch(text):
        return float(text)
    parts = _WRITTEN.fullmatch(text)
    if not parts:
        raise ValueError(f"{text!r} is no span of time such as 45s, 30m or 1h30m")
    return float(sum(float(part or 0) * unit for part, unit in zip(parts.groups(), _UNITS.values(), strict=True)))


def in_words(seconds: float) -> str:
    """Write a span of time as `seconds_in` reads it."""
    if seconds % 1:
        return f"{seconds:g}s"
    rest, words = int(seconds), ""
    for unit, size in _UNITS.items():
        count, rest = divmod(rest, size)
        words += f"{count}{unit}" if count else ""
    return words or "0s"
