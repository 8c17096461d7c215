"""Which module of a run may start next, and which ones wait for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush

from hybridwrap.domain.run import ModuleEnd

ENDED_WELL = frozenset({"ok", "unchanged"})


class Queue:
    """Modules in an order that puts needs first; only needs inside the run count."""

    def __init__(
        self, modules: Sequence[str], needs: Mapping[str, Sequence[str]], ended_well: frozenset[str] = ENDED_WELL
    ) -> None:
        self._good = ended_well
        self._order = tuple(modules)
        self._waiting = {name: place for place, name in enumerate(self._order)}
        self._missing = {name: {n for n in needs.get(name, ()) if n in self._waiting} for name in self._order}
        self._ready = [place for name, place in self._waiting.items() if not self._missing[name]]  # a heap
        self._needed_by: dict[str, list[str]] = {}
        for name, missing in self._missing.items():
            for need in missing:
                self._needed_by.setdefault(need, []).append(name)
        self.ends: dict[str, ModuleEnd] = {}

    def take_ready(self, limit: int | None = None) -> tuple[str, ...]:
        """Hand out modules whose needs have all ended well, each once."""
        count = len(self._ready) if limit is None else min(limit, len(self._ready))
        ready = tuple(self._order[heappop(self._ready)] for _ in range(count))
        for name in ready:
            del self._waiting[name]
        return ready

    def end(self, module: str, end: ModuleEnd) -> None:
        self.ends[module] = end
        if end.result not in self._good:
            return
        for name in self._needed_by.pop(module, ()):
            self._missing[name].remove(module)
            if not self._missing[name]:
                heappush(self._ready, self._waiting[name])

    @property
    def waiting(self) -> tuple[str, ...]:
        return tuple(self._waiting)

    def blocked_by(self, module: str) -> tuple[str, ...]:
        """The needs of a waiting module that have not ended well, in alphabetical order."""
        return tuple(sorted(self._missing[module]))
