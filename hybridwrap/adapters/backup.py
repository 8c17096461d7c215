"""A copy of a ledger in a folder, as a backup of a folder or `aws s3 sync` makes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hybridwrap.adapters.folder_store import FolderStore


class Backup:
    def __init__(self, folder: Path) -> None:
        self._store = FolderStore(folder)

    @property
    def place(self) -> str:
        return self._store.place

    def of(self, key: str) -> Iterator[bytes]:
        """The one content that it has of a key. Raise LedgerUnreachable."""
        data = self._store.read(key)
        if data is not None:
            yield data
