"""Moments as the ledger writes them: RFC 3339, UTC."""

from __future__ import annotations

from datetime import datetime, timedelta

from hybridwrap.domain.charter import stamp


def seconds_between(earlier: str, later: str) -> float:
    """Count from one moment to another; 0 when the clocks of two hosts have them the other way round."""
    return max((datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds(), 0.0)


def after(moment: str, seconds: float) -> str:
    """The moment so many seconds later, or earlier when they are less than 0."""
    return stamp(datetime.fromisoformat(moment) + timedelta(seconds=seconds))
