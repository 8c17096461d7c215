"""The contract of those who call hooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from hybridwrap.domain.hooks import Argv, HookRun
from hybridwrap.domain.stack import Module


class HookCall(Struct, frozen=True):
    """Hooks of one moment, to be called one after the other; of a run when `module` is None.

    `variables` are added to the environment. In `folder`, which is private, their output is kept, and `outputs` for as
    long as they run.
    """

    when: str
    hooks: tuple[Argv, ...]
    timeout_seconds: float
    folder: Path
    module: Module | None = None
    variables: Mapping[str, str] = {}
    outputs: bytes = b""


class Called(Struct, frozen=True):
    """One call, the last line that it printed, secrets masked, and where the rest is."""

    run: HookRun
    said: str = ""
    log: Path = Path()


class HookCaller(Protocol):
    """Never raises: a hook that can't be called has failed."""

    def call(self, call: HookCall, stopped: Callable[[], bool], mask: Callable[[str], str]) -> tuple[Called, ...]:
        """Call the hooks, those of `before` only up to the first that fails; `stopped` ends the one that runs.

        `mask` takes secrets out of what they printed.
        """

    def why_not(self, hook: Argv, module: Module | None) -> str:
        """Say why a hook's program can't be started on this host, "" when it is there."""
