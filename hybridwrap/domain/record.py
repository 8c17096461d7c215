"""What the ledger says about one module: its folded log."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from hybridwrap.domain.damage import Damage
from hybridwrap.domain.declared import Declared
from hybridwrap.domain.drift import Drift
from hybridwrap.domain.engine_run import Diagnostic, PlannedChange
from hybridwrap.domain.entry import (
    Begin,
    CloudObject,
    EngineIdentity,
    KeptState,
    Locks,
    RecordedInput,
    Source,
    StateMark,
    Writer,
)
from hybridwrap.domain.outputs import Output
from hybridwrap.domain.status import Outcome, Status


class Holder(Struct, frozen=True):
    """The operation that holds a module; `token` is the seq of the entry that took it."""

    operation: str
    token: int
    command: str
    run: str
    since: str
    writer: Writer
    locks: Locks
    confirmed: bool = False  # a `confirm` was written: the engine ended well, probes follow
    took_over: tuple[Holder, ...] = ()  # those that this one took over from, newest first, each without its own chain
    late: tuple[StateMark, ...] = ()  # states in results of theirs that arrived since


class Stamp(Struct, frozen=True):
    """Whose act a record stands for."""

    since: str
    by: str
    run: str
    operation: str
    command: str


class Record(Struct, frozen=True):
    """One module at the tail of its log. Without an entry: seq 0 and status none.

    While an operation holds the module, `status` is running, `intent` is what that operation set out to do and the
    fields from `since` to `command` are its own; all others are what the last ended operation left.
    """

    module: str
    seq: int = 0
    tail: str = ""  # sha256 of the last entry's bytes
    incarnation: str = ""
    status: Status = Status.NONE  # running while held
    settled: Status = Status.NONE  # the last status that is not running
    outcome: Outcome | None = None
    reason: str = ""
    since: str = ""
    by: str = ""
    run: str = ""
    operation: str = ""
    command: str = ""
    holder: Holder | None = None
    intent: Begin | None = None
    before: Stamp | None = None  # while held: what comes back if it turns out that nothing ran
    outputs: Mapping[str, Output] = {}
    objects: tuple[CloudObject, ...] = ()
    planned: tuple[PlannedChange, ...] = ()
    inputs: Mapping[str, RecordedInput] = {}
    inputs_digest: str = ""
    upstream_digest: str = ""
    source: Source | None = None
    engine: EngineIdentity | None = None
    state: StateMark | None = None
    failed_command: tuple[str, ...] = ()
    errors: tuple[Diagnostic, ...] = ()
    warnings: tuple[str, ...] = ()
    log: str = ""
    kept: KeptState | None = None  # a state to be put back; only while it is unknown, or was retained so
    state_lock: str = ""  # id of the engine's state lock that a dead engine of ours left behind
    superseded: Mapping[str, StateMark] = {}  # operation -> state at its taker's end
    doubt: str = ""  # while held: why the module will be unknown, however the operation ends
    strays: tuple[CloudObject, ...] = ()  # while held: what superseded operations have made, by their late results
    evidence: tuple[str, ...] = ()  # what the last end or look at it rests on
    doubted: bool = False  # this incarnation was unknown once: its absence has to be searched for
    declared: Declared | None = None
    owner_incarnation: str = ""  # the life of the owner that this one goes with
    drift: Drift | None = None  # None: none is known, and none was accepted
    damage: Damage | None = None  # in the log, behind all that this record tells; never in a head

    @property
    def last_declared(self) -> Declared | None:
        """What the manifest said of it last, be it to who holds it now."""
        return (self.intent.declared if self.intent else None) or self.declared

    @property
    def stamp(self) -> Stamp:
        return Stamp(self.since, self.by, self.run, self.operation, self.command)


def sound(record: Record) -> Record:
    """Return a record that can be built on. Raise LedgerDamaged for one whose log can't be read."""
    if record.damage:
        raise record.damage.error
    return record
