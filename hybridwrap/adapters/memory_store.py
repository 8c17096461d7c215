"""A store in memory: what the others are measured by."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock

from hybridwrap.domain.ports import Attempt, Creation, Listed


class MemoryStore:
    place = "memory"

    def __init__(self) -> None:
        self._objects: dict[str, tuple[bytes, str]] = {}
        self._writes = 0
        self._lock = Lock()

    def create(self, key: str, data: bytes) -> Attempt:
        with self._lock:
            if key in self._objects:
                return Attempt(Creation.EXISTS)
            self._put(key, data)
            return Attempt(Creation.STORED)

    def read(self, key: str) -> bytes | None:
        found = self._objects.get(key)
        return found[0] if found else None

    def replace(self, key: str, data: bytes, *, over: str | None = None) -> str | None:
        with self._lock:
            if over is not None and self._objects.get(key, (b"", ""))[1] != over:
                return None
            return self._put(key, data)

    def list(self, prefix: str, *, after: str = "", limit: int | None = None) -> Iterator[Listed]:
        with self._lock:
            found = sorted(
                (key, tag) for key, (_, tag) in self._objects.items() if key.startswith(prefix) and key > after
            )
        return (Listed(key, tag) for key, tag in found[:limit])

    def folders(self, folder: str) -> frozenset[str]:
        with self._lock:
            below = [key.removeprefix(folder) for key in self._objects if key.startswith(folder)]
        return frozenset(f"{folder}{rest.partition('/')[0]}/" for rest in below if "/" in rest)

    def delete(self, key: str) -> None:
        with self._lock:
            self._objects.pop(key, None)

    def _put(self, key: str, data: bytes) -> str:
        self._writes += 1
        tag = str(self._writes)
        self._objects[key] = (data, tag)
        return tag
