"""A network between clients and one store: requests are lost, answers are lost, writes land late.

`Network` is what clients share; each has its own `FaultyStore`, told beforehand what happens to its next requests.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.ports import Attempt, Creation, Listed, Store
from hybridwrap.errors import LedgerUnreachable


class Fault(Enum):
    NONE = auto()
    LOST = auto()  # the request never arrives
    ANSWER_LOST = auto()  # it is done, nobody hears of it
    DELAYED = auto()  # it arrives just before the next write of anybody
    STUCK = auto()  # it arrives when the test delivers it
    DOUBLED = auto()  # done, and the answer is that of its own second copy
    UNSETTLED = auto()  # 409: nothing is done
    FORBIDDEN = auto()  # 403: nothing is done


ARRIVES = frozenset({Fault.NONE, Fault.ANSWER_LOST, Fault.DOUBLED})
ANSWERED = {
    Fault.DOUBLED: Attempt(Creation.EXISTS),
    Fault.UNSETTLED: Attempt(Creation.UNSETTLED, "409"),
    Fault.FORBIDDEN: Attempt(Creation.REFUSED, "403: no permission for s3:PutObject"),
}


@dataclass
class Network:
    store: Store = field(default_factory=MemoryStore)
    late: list[Callable[[], object]] = field(default_factory=list)
    stuck: list[Callable[[], object]] = field(default_factory=list)

    def flush(self) -> None:
        """Let what is delayed arrive."""
        late, self.late = self.late, []
        for write in late:
            write()

    def deliver(self) -> None:
        """Let what is stuck arrive."""
        stuck, self.stuck = self.stuck, []
        for write in stuck:
            write()


@dataclass
class FaultyStore:
    network: Network = field(default_factory=Network)
    creates: deque[Fault] = field(default_factory=deque)  # what happens to the next creates
    replaces: deque[Fault] = field(default_factory=deque)
    reads: deque[Fault] = field(default_factory=deque)  # of reads and listings; anything but NONE fails
    always: Fault = Fault.NONE  # once a list is used up
    before_create: deque[Callable[[], object]] = field(default_factory=deque)  # somebody else acts first

    @property
    def place(self) -> str:
        return self.network.store.place

    def create(self, key: str, data: bytes) -> Attempt:
        if self.before_create:
            self.before_create.popleft()()
        answers: list[Attempt] = []
        fault = self._send(self.creates, lambda: answers.append(self.network.store.create(key, data)))
        if fault in ANSWERED:
            return ANSWERED[fault]
        return answers[0] if fault is Fault.NONE else Attempt(Creation.IN_DOUBT, "timed out")

    def replace(self, key: str, data: bytes, *, over: str | None = None) -> str | None:
        tags: list[str | None] = []
        fault = self._send(self.replaces, lambda: tags.append(self.network.store.replace(key, data, over=over)))
        if fault is not Fault.NONE:
            raise LedgerUnreachable(f"{key}: timed out")
        return tags[0]

    def _send(self, faults: deque[Fault], write: Callable[[], object]) -> Fault:
        """Let a write meet its fate; say which one that was."""
        self.network.flush()
        fault = self._next(faults)
        if fault in ARRIVES:
            write()
        elif fault is Fault.DELAYED:
            self.network.late.append(write)
        elif fault is Fault.STUCK:
            self.network.stuck.append(write)
        return fault

    def read(self, key: str) -> bytes | None:
        self._must_be_reachable()
        return self.network.store.read(key)

    def list(self, prefix: str, *, after: str = "", limit: int | None = None) -> Iterator[Listed]:
        self._must_be_reachable()
        return self.network.store.list(prefix, after=after, limit=limit)

    def folders(self, folder: str) -> frozenset[str]:
        self._must_be_reachable()
        return self.network.store.folders(folder)

    def delete(self, key: str) -> None:
        self._must_be_reachable()
        self.network.store.delete(key)

    def _must_be_reachable(self) -> None:
        if self._next(self.reads) is not Fault.NONE:
            raise LedgerUnreachable("reading: timed out")

    def _next(self, faults: deque[Fault]) -> Fault:
        return faults.popleft() if faults else self.always


@dataclass
class CountingStore:
    """Counts the requests that reach another store."""

    store: Store
    puts: int = 0
    gets: int = 0
    lists: int = 0

    @property
    def place(self) -> str:
        return self.store.place

    def create(self, key: str, data: bytes) -> Attempt:
        self.puts += 1
        return self.store.create(key, data)

    def replace(self, key: str, data: bytes, *, over: str | None = None) -> str | None:
        self.puts += 1
        return self.store.replace(key, data, over=over)

    def read(self, key: str) -> bytes | None:
        self.gets += 1
        return self.store.read(key)

    def list(self, prefix: str, *, after: str = "", limit: int | None = None) -> Iterator[Listed]:
        self.lists += 1
        return self.store.list(prefix, after=after, limit=limit)

    def folders(self, folder: str) -> frozenset[str]:
        self.lists += 1
        return self.store.folders(folder)

    def delete(self, key: str) -> None:
        self.store.delete(key)
