"""Heads of a ledger as this host read them last, in one file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from hybridwrap.domain.head_pack import heads_of, lines_of


class FileHeadCache:
    """Safe to delete, and useless rather than wrong when it can't be read or written."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> Mapping[str, tuple[str, bytes]]:
        try:
            return heads_of(self._path.read_bytes())
        except OSError:
            return {}

    def save(self, heads: Mapping[str, tuple[str, bytes]]) -> None:
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            self._path.parent.mkdir(mode=0o700, exist_ok=True)  # not the home: it is made by those who write
            temporary.touch(mode=0o600)
            temporary.write_bytes(lines_of(heads))
            temporary.replace(self._path)
        except OSError:
            return
