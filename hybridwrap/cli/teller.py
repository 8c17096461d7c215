"""Who tells people or programs of a run while it is at work."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from hybridwrap.cli.ending import OutputsByModule
from hybridwrap.domain.run import RunEnd
from hybridwrap.run.watch import Watcher


class Teller(Watcher, Protocol):
    def at_work(self) -> AbstractContextManager[None]:
        """Show what goes on until the block is over; however it ends, the terminal is then as it was."""

    def paused(self) -> AbstractContextManager[None]:
        """Keep silent, so that the block can print or ask; one at a time is in such a block."""

    def run_ended(self, end: RunEnd, outputs: OutputsByModule, /) -> None:
        """Say the last words; after `at_work`."""
