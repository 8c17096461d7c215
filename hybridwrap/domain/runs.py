"""The documents of runs: one at the start, one at the end, never replaced, the newest first in a listing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from hybridwrap.domain.append import store_once
from hybridwrap.domain.codec import decode, encode
from hybridwrap.domain.damage import Damage, damage_of_document, named
from hybridwrap.domain.keys import Keys, run_end
from hybridwrap.domain.ports import Clock, Store
from hybridwrap.domain.reading import AT_ONCE, read_many
from hybridwrap.domain.run import Run, RunEnd, RunStart
from hybridwrap.domain.shared_runs import SharedRuns
from hybridwrap.errors import LedgerDamaged, LedgerUnreachable, UsageError

T = TypeVar("T")


@dataclass(eq=False)
class Runs:
    store: Store
    keys: Keys
    clock: Clock
    shared: SharedRuns
    damage: dict[str, Damage] = field(default_factory=dict)  # that readers have met, by key
    _started: dict[str, str] = field(default_factory=dict)  # run -> key of its document

    def start(self, start: RunStart) -> None:
        key = self.keys.run(start.run, datetime.fromisoformat(start.time))
        store_once(self.store, self.clock, key, encode(start))
        self._started[start.run] = key

    def end(self, end: RunEnd) -> None:
        key = self._started.get(end.run) or self._key(end.run)
        store_once(self.store, self.clock, run_end(key), encode(end))

    def newest(self, limit: int | None) -> tuple[Run, ...]:
        """Read the newest runs; each has at most two keys, its end right before its document.

        One whose document can't be read is left out, one whose end can't be read has none; both are in `damage`.
        """
        listed = [item.key for item in self.store.list(self.keys.runs, limit=limit and 2 * limit)]
        keys = [key for key in listed if not key.endswith(".end.json")][:limit]
        found = tuple(run for document in self._documents(keys, set(listed)) if (run := self._readable(*document)))
        shared = [run for run in found if run.start.shared]
        if not shared:
            return found
        with ThreadPoolExecutor(min(AT_ONCE, len(shared))) as pool:
            fresh = {run.start.run: run for run in pool.map(self._brought_up_to_date, shared)}
        return tuple(fresh.get(run.start.run, run) for run in found)

    def _brought_up_to_date(self, run: Run) -> Run:
        try:
            return self.shared.brought_up_to_date(run)
        except LedgerDamaged as error:
            self._note(error, self.keys.parts(run.start.run))
            return run

    def _note(self, error: LedgerDamaged, key: str) -> None:
        self.damage[key] = damage_of_document(key, error)

    def _readable(self, key: str, start: bytes, end: bytes | None) -> Run | None:
        began = self._decoded(start, RunStart, key)
        return Run(began, self._decoded(end, RunEnd, run_end(key)) if end is not None else None) if began else None

    def _decoded(self, data: bytes, shape: type[T], key: str) -> T | None:
        try:
            return decode(data, shape, key)
        except LedgerDamaged as error:
            self._note(error, key)
            return None

    def find(self, prefix: str) -> Run:
        """Read the one run whose id begins so, or the newest of that name, in full.

        Raise UsageError when there is none or more than one.
        """
        key = self._key(prefix)
        ((_, start, end),) = self._documents([key], {run_end(key)})
        with named(key):
            began = decode(start, RunStart, key)
        with named(run_end(key)):
            run = Run(began, decode(end, RunEnd, run_end(key)) if end is not None else None)
        return self.shared.read(began.run) if began.shared else run

    def _key(self, prefix: str) -> str:
        keys = [item.key for item in self.store.list(self.keys.runs) if not item.key.endswith(".end.json")]
        found = {self.keys.run_of(key): key for key in keys if self.keys.run_of(key).startswith(prefix)}
        if prefix in found:
            return found[prefix]
        if not found and (named := self.shared.known_by(prefix)):
            return self._key(named)
        if not found:
            raise UsageError(f"there is no run {prefix}", hint="hybridwrap history")
        if len(found) > 1:
            raise UsageError(f"{prefix} may be {', '.join(sorted(found)[:5])}", hint="give more of the run's id")
        return next(iter(found.values()))

    def _documents(self, keys: list[str], ends: set[str]) -> list[tuple[str, bytes, bytes | None]]:
        """For each key the document of a run, and its end where that is one of `ends`."""
        with_end = [key for key in keys if run_end(key) in ends]
        starts = read_many(self.store, keys)
        ended = dict(zip(with_end, read_many(self.store, [run_end(key) for key in with_end]), strict=True))
        return [(key, self._listed(key, start), ended.get(key)) for key, start in zip(keys, starts, strict=True)]

    def _listed(self, key: str, data: bytes | None) -> bytes:
        if data is None:
            raise LedgerUnreachable(f"{self.store.place}: {key} was listed and can't be read")
        return data


def unreadable_runs(store: Store, keys: Keys) -> tuple[Damage, ...]:
    """Read the documents of all runs, and their ends; name those that can't be understood. Raise LedgerUnreachable."""
    listed = [item.key for item in store.list(keys.runs)]
    found: list[Damage] = []
    for key, data in zip(listed, read_many(store, listed), strict=True):
        try:
            decode(data or b"", RunEnd if key.endswith(".end.json") else RunStart, key)
        except LedgerDamaged as error:
            found.append(damage_of_document(key, error))
    return tuple(found)
