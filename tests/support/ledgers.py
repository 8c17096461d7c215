"""What tests of the ledger are made of: a clock that only sleep moves, ids in a row, bodies with plain content."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.entry import (
    Begin,
    CloudObject,
    End,
    EngineIdentity,
    LockFile,
    Locks,
    Source,
    StateMark,
    Writer,
)
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.ports import Store
from hybridwrap.domain.state import StatePlace
from hybridwrap.domain.status import Outcome, Status

PLACE = StatePlace("local", "state/prod/vm.tfstate")
LOCKS = Locks(LockFile("operations/1/events.jsonl", 1, 2), LockFile("operations/1/runner.lock", 1, 3))
ENGINE = EngineIdentity("terraform", "1.11.4")


@dataclass
class FakeClock:
    seconds: float = 0.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds


@dataclass
class Ids:
    """As long as a ULID, in the order of their making."""

    prefix: str = "01"
    _next: count[int] = field(default_factory=lambda: count(1))

    def new(self) -> str:
        return f"{self.prefix}{next(self._next):024}"


def writer(user: str = "ana") -> Writer:
    return Writer(user, "laptop", "boot-1", 4711, "2026-01-01T00:00:00Z", "0.1.0")


def ledger_on(store: Store | None = None, user: str = "ana", ids: Ids | None = None) -> Ledger:
    """A ledger that is open for writing."""
    ledger = Ledger(store or MemoryStore(), "shop", "prod", writer(user), FakeClock(), ids or Ids())
    ledger.open()
    return ledger


def state(serial: int, lineage: str = "6e1f") -> StateMark:
    return StateMark(PLACE, lineage if serial else "", serial)


def begin(command: str = "apply", *, serial: int = 0, run: str = "R1", before: Status = Status.NONE) -> Begin:
    return Begin(command, run, ENGINE, Source("sha256:1"), state(serial), LOCKS, previous_status=before)


def output(value: object, provenance: Provenance = Provenance.KNOWN) -> Output:
    return Output(provenance, value=value, type="string")


def ok(serial: int = 1, **outputs: object) -> End:
    return End(
        Outcome.SUCCEEDED,
        Status.OK,
        state(serial),
        {name: output(value) for name, value in outputs.items()},
        (CloudObject("aws_vpc.main", "aws_vpc", "id", "vpc-1"),),
    )


def failed(serial: int = 1, **outputs: Output) -> End:
    return End(Outcome.FAILED, Status.ERROR, state(serial), outputs, reason="exit code 1")


def cancelled(before: Status = Status.NONE) -> End:
    return End(Outcome.CANCELLED, before)


def unknown() -> End:
    return End(Outcome.UNKNOWN, Status.UNKNOWN, reason="the engine was killed")


def destroyed(serial: int = 2) -> End:
    return End(Outcome.SUCCEEDED, Status.DESTROYED, state(serial), evidence=("state empty", "1 of 1 objects deleted"))
