"""The error for a hook that does not let a module begin."""

from __future__ import annotations

from hybridwrap.domain.hooks import FAILED, HookRun
from hybridwrap.errors import NothingHappened


class HookFailed(NothingHappened):
    """A `before` hook failed; the module has not begun."""

    exit_code = FAILED

    def __init__(self, message: str, hooks: tuple[HookRun, ...]) -> None:
        super().__init__(message)
        self.hooks = hooks
