"""Why a run or a module came to its end before its work did: the time was up."""

from __future__ import annotations

from collections.abc import Iterable

from hybridwrap.domain.duration import in_words
from hybridwrap.domain.engine_run import Ended
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.stack import Module
from hybridwrap.errors import Stopped
from hybridwrap.run.queue import ENDED_WELL
from hybridwrap.run.stop import Stop


def overdue(stop: Stop, module: Module, ended: Ended) -> str:
    """Say whose time was up when an engine was interrupted, "" when it was not for that."""
    if not ended.overdue:
        return ""
    if stop.late:
        return stop.reason
    return f"its timeout of {in_words(module.timeout_seconds or 0.0)} was up"


def late_code(stop: Stop, ends: Iterable[ModuleEnd]) -> int:
    """The exit code of a run whose time was up before all was done, 0 for any other run."""
    unfinished = any(end.result not in ENDED_WELL for end in ends)
    return Stopped.exit_code if stop.late and unfinished else 0
