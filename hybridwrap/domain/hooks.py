"""Programs that a manifest names to be run around operations and runs, and what is kept of each call.

A hook can stop a module before `begin`, and nothing else: no record depends on what one says or does.
"""

from __future__ import annotations

import shlex

from msgspec import Struct

BEFORE, AFTER, ERROR = "before", "after", "error"
FAILED = 4  # the exit code of a run in which one failed

Argv = tuple[str, ...]


class Hooks(Struct, frozen=True):
    """What is to be run when; a run has no `error` of its own."""

    before: tuple[Argv, ...] = ()
    after: tuple[Argv, ...] = ()
    error: tuple[Argv, ...] = ()
    timeout_seconds: float = 600.0  # of each

    @property
    def all(self) -> tuple[Argv, ...]:
        return (*self.before, *self.after, *self.error)

    def at(self, when: str) -> tuple[Argv, ...]:
        return {BEFORE: self.before, AFTER: self.after, ERROR: self.error}[when]


class HookRun(Struct, frozen=True):
    """One call; without an exit code `trouble` says why there is none."""

    when: str  # before, after, error
    argv: Argv
    exit_code: int | None = None
    seconds: float = 0.0
    trouble: str = ""

    @property
    def failed(self) -> bool:
        return self.exit_code != 0

    @property
    def ending(self) -> str:
        return self.trouble or f"exit code {self.exit_code}"

    def __str__(self) -> str:
        return f"{self.when} `{shlex.join(self.argv)}`: {self.ending}"
