"""Folders for what may hold inputs or states: for nobody but their owner, also those above them."""

from __future__ import annotations

from pathlib import Path


def make_private(folder: Path) -> None:
    """Make a folder, and all above it that are missing, 0700: `mkdir -p` would do that for the last one alone."""
    if folder.is_dir():
        return
    make_private(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
