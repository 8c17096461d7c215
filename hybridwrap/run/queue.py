"""Which module of a run may start next, and which ones wait for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hybridwrap.domain.run import ModuleEnd

ENDED_WELL = frozenset({"ok", "unchanged"})


class Queue:
    """Modules in an order that puts needs first; only needs inside the run count."""

    def __init__(
        self, modules: Sequence[str], needs: Mapping[str, Sequence[str]], ended_well: frozenset[str] = ENDED_WELL
    ) -> None:
        self._waiting = list(modules)
        self._good = ended_well
        self._needs = {name: tuple(n for n in needs.get(name, ()) if n in modules) for name in modules}
        self.ends: dict[str, ModuleEnd] = {}

    def take_ready(self, limit: int | None = None) -> tuple[str, ...]:
        """Hand out modules whose needs have all ended well, each once."""
        ready = [name for name in self._waiting if self._is_ready(name)][:limit]
        self._waiting = [name for name in self._waiting if name not in ready]
        return tuple(ready)

    def end(self, module: str, end: ModuleEnd) -> None:
        self.ends[module] = end

    @property
    def waiting(self) -> tuple[str, ...]:
        return tuple(self._waiting)

    def blocked_by(self, module: str) -> tuple[str, ...]:
        """The needs of a waiting module that have not ended well, in alphabetical order."""
        return tuple(sorted(n for n in self._needs[module] if not self._ended_well(n)))

    def _is_ready(self, module: str) -> bool:
        return all(self._ended_well(n) for n in self._needs[module])

    def _ended_well(self, module: str) -> bool:
        return module in self.ends and self.ends[module].result in self._good
