"""What the ledger says about one module: its folded log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hybridwrap.domain.engine_run import Diagnostic, PlannedChange
from hybridwrap.domain.entry import CloudObject, EngineIdentity, Locks, RecordedInput, Source, StateMark, Writer
from hybridwrap.domain.outputs import Output
from hybridwrap.domain.status import Outcome, Status


@dataclass(frozen=True, slots=True)
class Holder:
    """The operation that holds a module; `token` is the seq of the entry that took it."""

    operation: str
    token: int
    command: str
    run: str
    since: str
    writer: Writer
    locks: Locks
    confirmed: bool = False  # a `confirm` was written: the engine ended well, probes follow
    took_over: tuple[str, ...] = ()  # operations that this one took over from, newest first


@dataclass(frozen=True, slots=True)
class Record:
    """One module at the tail of its log. Without an entry: seq 0 and status none."""

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
    outputs: Mapping[str, Output] = field(default_factory=dict)
    objects: tuple[CloudObject, ...] = ()
    planned: tuple[PlannedChange, ...] = ()  # of the last begin
    inputs: Mapping[str, RecordedInput] = field(default_factory=dict)
    inputs_digest: str = ""
    upstream_digest: str = ""
    source: Source | None = None
    engine: EngineIdentity | None = None
    state: StateMark | None = None
    failed_command: tuple[str, ...] = ()
    errors: tuple[Diagnostic, ...] = ()
    warnings: tuple[str, ...] = ()
    log: str = ""
