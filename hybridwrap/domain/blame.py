"""Which errors of an engine are told, in which order, and of which object each is."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from hybridwrap.domain.engine_run import Diagnostic, Stream
from hybridwrap.domain.trace import Fate, trace

_SAYS_NOTHING: Final = "execution halted"  # stands beside the error that made it so
_OF_THE_STATE: Final = ("state", "plan")  # words in errors that are of no object: about the lock, a save, a stale plan


def errors_of(stream: Stream) -> tuple[Diagnostic, ...]:
    """The errors, the telling ones first; one that names no object gets the address of the only one that failed.

    Engines name no object when a provider crashes or when a delete fails.
    """
    errors = sorted(stream.errors, key=lambda error: error.summary == _SAYS_NOTHING)
    address = _only_failure(stream)
    nameless = [error for error in errors if _may_be_of_an_object(error)]
    if not address or len(nameless) != 1 or any(error.address == address for error in errors):
        return tuple(errors)
    return tuple(replace(error, address=address) if error is nameless[0] else error for error in errors)


def _only_failure(stream: Stream) -> str:
    """The address of the object that did not end well, "" when there are more or none."""
    failed = {step.address for step in trace(stream) if step.fate is not Fate.DONE}
    return failed.pop() if len(failed) == 1 else ""


def _may_be_of_an_object(error: Diagnostic) -> bool:
    words = error.summary.lower().split()
    return not error.address and error.summary != _SAYS_NOTHING and not set(words) & set(_OF_THE_STATE)
