"""Heads of many modules in one object, for those who have none of them: a copy of copies.

Keeps: each lies under the tag of the head that it was read from or written as, and counts for no other; a pack that is
lost, old or garbage costs time and nothing else.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Mapping
from contextlib import suppress

from hybridwrap.domain.ports import Store
from hybridwrap.errors import LedgerUnreachable

FIELDS = 3


class HeadPack:
    """The pack of a ledger, under one key of its store."""

    def __init__(self, store: Store, key: str) -> None:
        self._store = store
        self._key = key

    def load(self) -> Mapping[str, tuple[str, bytes]]:
        try:
            data = self._store.read(self._key)
            return heads_of(gzip.decompress(data)) if data else {}
        except (LedgerUnreachable, OSError, EOFError, zlib.error):
            return {}

    def save(self, heads: Mapping[str, tuple[str, bytes]]) -> None:
        with suppress(LedgerUnreachable):
            self._store.replace(self._key, gzip.compress(lines_of(heads), mtime=0))


def lines_of(heads: Mapping[str, tuple[str, bytes]]) -> bytes:
    """Write a line for each: key, tab, tag, tab, content. Canonical JSON holds neither tab nor line feed."""
    return b"\n".join(b"\t".join((key.encode(), tag.encode(), data)) for key, (tag, data) in heads.items())


def heads_of(lines: bytes) -> Mapping[str, tuple[str, bytes]]:
    """Read what `lines_of` wrote; anything else is left out."""
    rows = [line.split(b"\t", FIELDS - 1) for line in lines.split(b"\n")]
    return {
        row[0].decode(errors="replace"): (row[1].decode(errors="replace"), row[2]) for row in rows if len(row) == FIELDS
    }
