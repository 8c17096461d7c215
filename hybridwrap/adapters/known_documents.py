"""A store far away, whose documents that are never replaced are fetched to this host once.

Keeps: a file here that is not whole counts for nothing, and a document is asked for only after a listing has shown it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from hybridwrap.adapters.whole_file import put_whole
from hybridwrap.domain.ports import Attempt, Listed, Store

MOST_FILES = 200
DIGEST = 64  # characters of a SHA-256 before the content


class KnownDocuments:
    """In front of a store; `is_final` says which keys hold what is never replaced. Its files are safe to delete."""

    def __init__(self, store: Store, folder: Path, is_final: Callable[[str], bool]) -> None:
        self._store = store
        self._folder = folder
        self._is_final = is_final

    @property
    def place(self) -> str:
        return self._store.place

    def create(self, key: str, data: bytes) -> Attempt:
        return self._store.create(key, data)

    def read(self, key: str) -> bytes | None:
        if not self._is_final(key):
            return self._store.read(key)
        file = self._folder / sha256(f"{self.place}\n{key}".encode()).hexdigest()
        data = _whole(file)
        if data is None and (data := self._store.read(key)) is not None and _is_complete(data):
            self._keep(file, data)
        return data

    def replace(self, key: str, data: bytes, *, over: str | None = None) -> str | None:
        return self._store.replace(key, data, over=over)

    def list(self, prefix: str, *, after: str = "", limit: int | None = None) -> Iterator[Listed]:
        return self._store.list(prefix, after=after, limit=limit)

    def folders(self, folder: str) -> frozenset[str]:
        return self._store.folders(folder)

    def delete(self, key: str) -> None:
        self._store.delete(key)

    def _keep(self, file: Path, data: bytes) -> None:
        """Write the document where that is possible; without it the next start is slower, and nothing else."""
        with suppress(OSError):
            self._folder.parent.mkdir(mode=0o700, exist_ok=True)  # not the home: it is made by those who write
            self._folder.mkdir(mode=0o700, exist_ok=True)
            put_whole(file, sha256(data).hexdigest().encode() + data)
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        files = sorted(self._folder.iterdir(), key=lambda file: file.stat().st_mtime)
        for file in files[:-MOST_FILES]:
            file.unlink(missing_ok=True)


def _whole(file: Path) -> bytes | None:
    try:
        kept = file.read_bytes()
    except OSError:
        return None
    digest, data = kept[:DIGEST], kept[DIGEST:]
    return data if sha256(data).hexdigest().encode() == digest else None


def _is_complete(data: bytes) -> bool:
    """Whether it looks like a document: one that is damaged may come back."""
    return data[:1] == b"{" and data[-1:] == b"}"
