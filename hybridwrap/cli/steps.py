"""Steps of an engine in words, and who wants to read them."""

from __future__ import annotations

from hybridwrap.cli.board import VERBS
from hybridwrap.cli.lines import PLANNED, counted
from hybridwrap.domain.engine_run import ChangeSummary, Hook
from hybridwrap.domain.ports import EngineEvent

QUIET, NORMAL, VERBOSE, VERY_VERBOSE = range(-1, 3)


def in_words(event: EngineEvent) -> tuple[int, str] | None:
    """From which verbosity on an event is told, and its text; errors are told at a module's end."""
    match event:
        case Hook(phase="errored"):
            return VERBOSE if event.provisioner else NORMAL, f"{_what(event)} failed"
        case Hook(phase="complete"):
            return VERBOSE, f"{_what(event)} done"
        case Hook():
            return VERY_VERBOSE, f"{_what(event)} …"
        case ChangeSummary("plan"):
            return VERBOSE, f"plan: {counted(event.changes, PLANNED) or 'no changes'}"
    return None


def phase_verbosity(phase: str) -> int:
    """From which verbosity on a line says that a phase began."""
    return NORMAL if phase in {"apply", "destroy"} else VERBOSE


def _what(hook: Hook) -> str:
    return f"{hook.address}: {hook.provisioner or VERBS.get(hook.action, 'at work')}"
