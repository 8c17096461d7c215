"""Lets several clients act in an order that a test chooses: each waits before everything that others could notice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import Any

from hybridwrap.domain.ports import Attempt, Listed, Store

PATIENCE_SECONDS = 60


class Crash(BaseException):
    """The client is gone; no part of hybridwrap expects it."""


@dataclass
class Turns:
    """Who waits, and who goes next: by a list of numbers, each taken for one of those who wait."""

    order: Sequence[int] = ()
    crashes: Mapping[str, int] = field(default_factory=dict)  # client -> before which of its steps it dies
    steps: dict[str, int] = field(default_factory=dict)
    told: dict[str, list[str]] = field(default_factory=dict)  # what each step of a client was, as far as it said

    def __post_init__(self) -> None:
        self._changed = Condition()
        self._waiting: dict[str, int] = {}
        self._granted = ""
        self._alive: set[str] = set()
        self._free = True

    def step(self, client: str, what: str = "") -> None:
        """Wait for one's turn; raise Crash when it does not come any more."""
        with self._changed:
            if self._free:
                return
            self._waiting[client] = self._waiting.get(client, 0) + 1
            self._changed.notify_all()
            if not self._changed.wait_for(lambda: self._granted == client, PATIENCE_SECONDS):
                raise TimeoutError(client)
            self._granted = ""
            self._waiting[client] -= 1
            self.steps[client] = self.steps.get(client, 0) + 1
            self.told.setdefault(client, []).append(what)
            self._changed.notify_all()
            if self.steps[client] >= self.crashes.get(client, 1 << 30):
                raise Crash(client)

    def play(self, clients: Mapping[str, Callable[[], object]]) -> dict[str, BaseException]:
        """Run clients to their ends, one step at a time; return those that ended by an exception."""
        failed: dict[str, BaseException] = {}

        def run(name: str, work: Callable[[], object]) -> None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001  a crash is what is played
                failed[name] = error
            with self._changed:
                self._alive.discard(name)
                self._changed.notify_all()

        self._free = False
        self._alive = set(clients)
        threads = [Thread(target=run, args=item, daemon=True) for item in clients.items()]
        for thread in threads:
            thread.start()
        self._conduct()
        for thread in threads:
            thread.join(PATIENCE_SECONDS)
        self._free = True
        return failed

    def _conduct(self) -> None:
        order = list(self.order)
        with self._changed:
            while True:
                if not self._changed.wait_for(self._all_wait, PATIENCE_SECONDS):
                    raise TimeoutError(f"{self._alive} are alive, {self._waiting} wait")
                ready = sorted(name for name in self._alive if self._waiting.get(name))
                if not ready:
                    return
                self._granted = ready[order.pop(0) % len(ready)] if order else ready[0]
                self._changed.notify_all()

    def _all_wait(self) -> bool:
        return not self._granted and all(self._waiting.get(name) for name in self._alive)


@dataclass
class InTurn:
    """A store as one client sees it: each write and each listing is a step, single reads follow from them."""

    store: Store
    client: str
    turns: Turns

    @property
    def place(self) -> str:
        return self.store.place

    def create(self, key: str, data: bytes) -> Attempt:
        self.turns.step(self.client, f"create {key}")
        return self.store.create(key, data)

    def read(self, key: str) -> bytes | None:
        return self.store.read(key)

    def replace(self, key: str, data: bytes, *, over: str | None = None) -> str | None:
        self.turns.step(self.client, f"replace {key}")
        return self.store.replace(key, data, over=over)

    def list(self, prefix: str, **more: Any) -> Iterator[Listed]:
        self.turns.step(self.client, f"list {prefix}")
        return self.store.list(prefix, **more)

    def folders(self, folder: str) -> frozenset[str]:
        self.turns.step(self.client)
        return self.store.folders(folder)

    def delete(self, key: str) -> None:
        self.store.delete(key)
