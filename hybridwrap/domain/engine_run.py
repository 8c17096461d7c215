"""What an engine did, as typed facts: the plan that it made, the events that it printed, how it ended."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from hybridwrap.domain.told_time import in_utc


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


class PlannedChange(Struct, frozen=True):
    address: str
    action: Action
    type: str = ""
    reason: str = ""

    @property
    def forgets(self) -> bool:
        """Whether an object lives on unmanaged; OpenTofu plans a replacement that forgets the old one as a `noop`."""
        return self.action in {Action.REMOVE, Action.FORGET} or (self.action is Action.NOOP and bool(self.reason))


class LockInfo(Struct, frozen=True):
    """Who holds the engine's state lock, in the engine's words; `created` is not RFC 3339."""

    id: str
    path: str = ""
    operation: str = ""
    who: str = ""
    version: str = ""
    created: str = ""

    def __str__(self) -> str:
        return f"{self.who} since {self.since} ({self.command}, lock {self.id})" if self.id else self.who

    @property
    def since(self) -> str:
        return in_utc(self.created)

    @property
    def command(self) -> str:
        """`apply`, where the engine writes OperationTypeApply."""
        return self.operation.removeprefix("OperationType").lower()


# What a local state's lock says whose holder has not written down yet who it is.
_HELD_BY_NOBODY_NAMED = ("Error acquiring the state lock", "resource temporarily unavailable")
_LOCK_LINE = re.compile(r"^ +(ID|Path|Operation|Who|Version|Created):[ \t]*(.*?)\s*$", re.MULTILINE)


class Diagnostic(Struct, frozen=True):
    """An error or warning of the engine; file and line are those of the module's source, when it names them."""

    severity: str  # error, warning
    summary: str
    detail: str = ""
    address: str = ""
    file: str = ""
    line: int = 0

    @property
    def lock(self) -> LockInfo | None:
        """The `Lock Info` block of the detail; without it an error is about a held lock only where it says so."""
        summary, refusal = _HELD_BY_NOBODY_NAMED
        _, found, block = self.detail.partition("Lock Info:")
        words = {key.lower(): value for key, value in _LOCK_LINE.findall(block)} if found else {}
        if words.get("id"):
            return LockInfo(**words)
        return LockInfo("", who="another process") if self.summary == summary and refusal in self.detail else None


def telling(errors: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Those that say more than that an interrupt has ended the engine."""
    return tuple(error for error in errors if error.summary != "execution halted")


class Hook(Struct, frozen=True):
    """One step of one object: phase is start, progress, complete or errored.

    A provisioner and a Terraform action have the action `other`; reading a data source has a hook too.
    """

    address: str
    action: Action
    phase: str
    type: str = ""
    id_key: str = ""
    id_value: str = ""
    provisioner: str = ""
    time: str = ""


class ChangeSummary(Struct, frozen=True):
    """How many objects were changed, by the engine's own words; releases differ in the words that they use."""

    operation: str  # plan, apply, destroy
    changes: Mapping[str, int] = {}

    def count(self, change: str) -> int:
        return self.changes.get(change, 0)


class OutputChange(Struct, frozen=True):
    action: Action
    sensitive: bool = False


class Stream(Struct, frozen=True):
    """Everything an event stream says; what it holds beyond that is counted, kept in the file, and never fatal."""

    product: str = ""  # terraform, opentofu
    version: str = ""
    planned: tuple[PlannedChange, ...] = ()
    drifted: tuple[PlannedChange, ...] = ()
    vanished: Mapping[str, str] = {}  # address -> id of what a refresh found gone
    output_changes: Mapping[str, OutputChange] = {}
    hooks: tuple[Hook, ...] = ()  # without the phase progress
    diagnostics: tuple[Diagnostic, ...] = ()
    summaries: tuple[ChangeSummary, ...] = ()
    state_dump: bytes | None = None  # an emergency dump of the whole state, byte for byte: holds secrets
    interrupts: int = 0  # that the engine says it received: 0, 1 or 2
    lock_steps: tuple[str, ...] = ()  # acquire, release: only where the state lock took long
    unknown_types: tuple[str, ...] = ()
    plain_lines: tuple[str, ...] = ()  # the last ones, shortened

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """Each once: an interrupted engine says "execution halted" for all that it had not begun."""
        return tuple(dict.fromkeys(d for d in self.diagnostics if d.severity == "error"))

    @property
    def interrupted(self) -> bool:
        return self.interrupts > 0

    @property
    def mutations(self) -> tuple[Hook, ...]:
        """The hooks without those of data sources."""
        return tuple(hook for hook in self.hooks if hook.action is not Action.READ)

    @property
    def final(self) -> ChangeSummary | None:
        """The summary of what was done: a destroy through a saved plan calls itself an apply."""
        return next((s for s in reversed(self.summaries) if s.operation in {"apply", "destroy"}), None)

    @property
    def forgotten(self) -> tuple[str, ...]:
        """Addresses of objects that the plan lets live on unmanaged."""
        return tuple(change.address for change in self.planned if change.forgets)


class Ended(Struct, frozen=True):
    """How an engine process ended; `exit_code` None means nobody was there to see it."""

    exit_code: int | None = None
    signal: int | None = None
    interrupts: int = 0
    argv: tuple[str, ...] = ()
    seconds: float = 0.0
    overdue: bool = False  # its time was up before it was done
