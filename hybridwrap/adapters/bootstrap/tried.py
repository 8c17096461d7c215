"""Remembers on this host which settings a server took and could not work with, so that they are not offered again."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from hybridwrap.adapters.home import make_home
from hybridwrap.adapters.private_folders import make_private
from hybridwrap.domain import json
from hybridwrap.errors import PreflightRefused

FILE = "bootstrap.json"


class Tried:
    """By bucket, the names of settings; what can't be read or written is not remembered."""

    def __init__(self, home: Path, stack: str) -> None:
        self._home, self._stack = home, stack
        self._file = home / "cache" / FILE

    def in_vain(self, place: str) -> frozenset[str]:
        found = self._all().get(place, [])
        return frozenset(name for name in found if isinstance(name, str)) if isinstance(found, list) else frozenset()

    def remember(self, place: str, names: frozenset[str]) -> None:
        known = {**self._all(), place: sorted(names)}
        if known == self._all() or (not names and place not in self._all()):
            return
        with suppress(OSError, PreflightRefused):
            make_home(self._home, self._stack)
            make_private(self._file.parent)
            self._file.write_bytes(json.canonical(known))

    def _all(self) -> dict[str, json.Json]:
        try:
            found = json.loads(self._file.read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}
