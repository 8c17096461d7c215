"""Where the source of a module can come from when its folder is not there."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from hybridwrap.domain.entry import Source
from hybridwrap.domain.stack import EngineWish, Interface, Module


class Sources(Protocol):
    """The sources of one stack's modules on this host."""

    def describe(self, module: Module) -> Source:
        """Say what makes a module, and of which commit it is; no blob yet."""

    def fingerprint(self, module: Module) -> Source:
        """Say what makes a module, by digests alone: no process is started for it."""

    def merged(self, module: Module) -> bool:
        """Whether all of a module and the manifest are committed, on the branch that changes go to."""

    def pack(self, folder: Path) -> bytes | None:
        """Put all that a module needs into one file, the same bytes for the same content; None when it is too large.

        States, variable files and hidden files stay behind. Raise PreflightRefused for a module that has vanished.
        """

    def unpack(self, data: bytes, folder: Path) -> Path:
        """Lay out what `pack` made of a folder, in the home's cache; return its place there. Raise LedgerDamaged."""

    def check_out(self, folder: Path, commit: str) -> Path:
        """Get a folder as it was at a commit of the repository that it belongs to. Raise PreflightRefused."""

    def interface(self, folder: Path, engine: EngineWish) -> Interface:
        """Read what a module declares. Raise InvalidManifest."""

    def steering(self, folder: Path, engine: EngineWish) -> frozenset[str]:
        """Name the variables that may steer what providers talk to. Raise InvalidManifest."""
