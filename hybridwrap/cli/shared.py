"""The name under which many processes share one run: `HYBRIDWRAP_RUN`, as a rule the CI system's own id."""

from __future__ import annotations

import os

from msgspec import Struct

from hybridwrap.errors import UsageError

VARIABLE = "HYBRIDWRAP_RUN"


class SharedRun(Struct, frozen=True):
    command: str
    name: str


def shared_run(command: str, *, asks: bool = False) -> SharedRun | None:
    """The run that this call is a part of, None for one of its own. Raise UsageError where somebody would be asked."""
    name = os.environ.get(VARIABLE, "")
    if name and asks:
        raise UsageError(
            f"{VARIABLE} is set: a run of many processes can't ask anybody",
            hint=f"hybridwrap {command} --auto-approve, or without {VARIABLE}",
        )
    return SharedRun(command, name) if name else None
