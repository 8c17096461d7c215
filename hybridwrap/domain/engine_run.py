"""What an engine did, as typed facts: the plan that it made, the events that it printed, how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from hybridwrap.domain.json import Json
from hybridwrap.errors import EngineFailed


class Action(StrEnum):
    """What a plan wants to do to one object; `remove` and `forget` leave it alive and unmanaged."""

    NOOP = "noop"
    CREATE = "create"
    READ = "read"
    UPDATE = "update"
    REPLACE = "replace"
    DELETE = "delete"
    MOVE = "move"
    IMPORT = "import"
    REMOVE = "remove"
    FORGET = "forget"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class PlannedChange:
    address: str
    action: Action
    type: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """An error or warning of the engine; file and line are those of the module's source, when it names them."""

    severity: str  # error, warning
    summary: str
    detail: str = ""
    address: str = ""
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Hook:
    """One step of one object: phase is start, progress, complete or errored."""

    address: str
    action: Action
    phase: str
    type: str = ""
    id_key: str = ""
    id_value: str = ""
    provisioner: str = ""
    time: str = ""


@dataclass(frozen=True, slots=True)
class ChangeSummary:
    operation: str  # plan, apply, destroy
    changes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OutputChange:
    action: Action
    sensitive: bool = False


@dataclass(frozen=True, slots=True)
class Stream:
    """Everything an event stream says; what it holds beyond that is counted, kept in the file, and never fatal."""

    product: str = ""  # terraform, opentofu
    version: str = ""
    planned: tuple[PlannedChange, ...] = ()
    drifted: tuple[PlannedChange, ...] = ()
    output_changes: Mapping[str, OutputChange] = field(default_factory=dict)
    hooks: tuple[Hook, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    summaries: tuple[ChangeSummary, ...] = ()
    state_dump: Json = None  # an emergency dump of the whole state: holds secrets
    interrupted: bool = False
    unknown_types: tuple[str, ...] = ()
    plain_lines: tuple[str, ...] = ()

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(d for d in self.diagnostics if d.severity == "error")


@dataclass(frozen=True, slots=True)
class Ended:
    """How an engine process ended; `exit_code` None means nobody was there to see it."""

    exit_code: int | None = None
    signal: int | None = None
    interrupts: int = 0
    argv: tuple[str, ...] = ()
    seconds: float = 0.0


class CommandFailed(EngineFailed):
    """A command that mutates nothing (init, plan, state pull) failed; `stream` holds its diagnostics."""

    def __init__(self, message: str, *, ended: Ended, stream: Stream) -> None:
        super().__init__(message)
        self.ended = ended
        self.stream = stream
