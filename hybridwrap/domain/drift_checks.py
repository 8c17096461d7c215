"""When a module was last looked at for drift: a look that found no news is kept in the end of its run alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from hybridwrap.domain.drift import Drift
from hybridwrap.domain.run import Run

COMMAND = "drift"
NO_DRIFT, NEW_DRIFT, ACCEPTED_DRIFT = "unchanged", "drifted", "accepted"  # results of a module that was looked at
NOTHING_THERE = "empty"  # nothing was applied, or it is gone
LOOKED_AT = frozenset({NO_DRIFT, NEW_DRIFT, ACCEPTED_DRIFT})


class Known(Protocol):
    """What is known of a module: its record, or what is made of it."""

    @property
    def module(self) -> str: ...

    @property
    def since(self) -> str: ...

    @property
    def drift(self) -> Drift | None: ...


def last_checked(known: Known, runs: Iterable[Run]) -> str:
    """RFC 3339, "" when it was not looked at since it was changed; `runs` are the newest ones, newest first."""
    recorded = known.drift.checked if known.drift else ""
    looks = (_look(run, known.module) for run in runs if run.start.command == COMMAND)
    newest = max(next(filter(None, looks), ""), recorded)
    return newest if newest >= known.since else ""


def _look(run: Run, module: str) -> str:
    end = run.ends.get(module)
    return (end.began or run.start.time) if end and end.result in LOOKED_AT else ""
