"""Heads of a ledger as this host read them last, in one file: a line for each, `key`, tab, `tag`, tab, content."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

FIELDS = 3


class FileHeadCache:
    """Safe to delete, and useless rather than wrong when it can't be read or written."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> Mapping[str, tuple[str, bytes]]:
        try:
            rows = [line.split(b"\t", FIELDS - 1) for line in self._path.read_bytes().split(b"\n")]
        except OSError:
            return {}
        return {
            row[0].decode(errors="replace"): (row[1].decode(errors="replace"), row[2])
            for row in rows
            if len(row) == FIELDS
        }

    def save(self, heads: Mapping[str, tuple[str, bytes]]) -> None:
        """Write the file anew; content of canonical JSON holds neither tab nor line feed."""
        rows = (b"\t".join((key.encode(), tag.encode(), data)) for key, (tag, data) in heads.items())
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            self._path.parent.mkdir(mode=0o700, exist_ok=True)  # not the home: it is made by those who write
            temporary.touch(mode=0o600)
            temporary.write_bytes(b"\n".join(rows))
            temporary.replace(self._path)
        except OSError:
            return
