"""Runs for programs, and what both views need."""

from __future__ import annotations

from datetime import datetime

from hybridwrap.domain.codec import plain
from hybridwrap.domain.json import Json
from hybridwrap.domain.run import Run


def seconds_of(run: Run) -> float:
    """From the start of a run to its end, 0 without one."""
    if run.end is None:
        return 0.0
    return (datetime.fromisoformat(run.end.time) - datetime.fromisoformat(run.start.time)).total_seconds()


def run_json(run: Run) -> Json:
    """Both documents of a run, as the ledger has them."""
    whole = {**plain(run.start), "end": plain(run.end) if run.end else None}
    return {**whole, "parts": [run_json(part) for part in run.parts]} if run.parts else whole
