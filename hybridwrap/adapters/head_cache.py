"""Heads of a ledger as this host read them last, in one file."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from hybridwrap.adapters.whole_file import put_whole
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
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, exist_ok=True)  # not the home: it is made by those who write
            put_whole(self._path, lines_of(heads))
