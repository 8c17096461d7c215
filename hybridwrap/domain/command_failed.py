"""The failure of an engine command that mutates nothing."""

from __future__ import annotations

from hybridwrap.domain.engine_run import Ended, Stream
from hybridwrap.errors import EngineFailed


class CommandFailed(EngineFailed):
    """A command that mutates nothing (init, plan, state pull) failed; `stream` holds its diagnostics."""

    def __init__(self, message: str, *, ended: Ended, stream: Stream, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.ended = ended
        self.stream = stream
