"""Where the files of a module's engine lie on this host."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct


class Layout(Struct, frozen=True):
    """Of one stack in one environment; all paths are real ones, so that relative ones between them hold."""

    root: Path  # the manifest's folder
    home: Path
    environment: str

    def data_folder(self, module: str, product: str) -> Path:
        """TF_DATA_DIR: of one module in one environment, as two would mix up their backends, and of one product."""
        return self.home / "data" / self.environment / module / product

    def state_file(self, module: str) -> Path:
        """The local state, where the manifest names no other place."""
        return self.home / "state" / self.environment / f"{module}.tfstate"

    @property
    def versions(self) -> Path:
        return self.home / "cache" / "engines.json"


def relative(target: Path, start: Path) -> str:
    """A path that still holds after the checkout was moved: an absolute one in a state would make a plan of it all."""
    return os.path.relpath(target, start)
