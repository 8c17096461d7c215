"""The error tree: the class says what the caller may do next, the message has the facts, the hint is what to type.

HybridwrapError
├── NothingHappened          no provider was called, no record was made
│   ├── UsageError           64
│   ├── InvalidManifest      10  every problem found, each with file, line and column
│   ├── PreflightRefused     10
│   │   └── CredentialsRefused 10  there are none for the engine, or they are of another account
│   ├── EngineNotUsable      40
│   ├── LedgerUnreachable    30
│   │   ├── IntentInDoubt    30  the engine must not start; the operation's folder must stay
│   │   └── WrongKey         10  another key than the one that the ledger was encrypted with
│   ├── LedgerDamaged        33
│   ├── ApprovalOutdated      5
│   ├── ModuleBusy           20
│   │   └── StateLocked      20  somebody else holds the engine's state lock
│   ├── SlotTaken            20  somebody acted since the record was read: read it again
│   └── PlanOutdated         20  the engine's state moved past the ledger since the plan: plan again
│       └── NeedChanged      20  what goes into it moved: plan again
├── LedgerMisused             1  the ledger was asked for what its rules forbid: a bug
├── Unexpected                1  an error that nothing here knows: a bug
├── NotPermitted              1  the system refuses a file that is needed
├── OutputNotWritten          1  stdout or stderr takes nothing more
├── ReaderGone              141  whoever read stdout has closed it
├── Superseded               21  lost a race after work was done
├── OutcomeUnknown           32  it cannot be told whether something happened
│   └── StateUnreadable      32  what lies in the state's place is no state
├── StateNotTheRecordedOne   32
├── ResultNotSent            34  safe on this host, not yet in the ledger
├── EngineFailed              4
└── Stopped                  130 interrupted, 143 terminated
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from errno import EIO, ENOSPC, EPIPE

from hybridwrap.counting import count_of


class HybridwrapError(Exception):
    """An expected ending other than success."""

    exit_code = 1
    hint = ""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if hint is not None:
            self.hint = hint


class NothingHappened(HybridwrapError):
    """No provider was called and no record was made."""


class UsageError(NothingHappened):
    exit_code = 64
    hint = "hybridwrap --help"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in a file; `line` and `column` count from 1, 0 means the whole file."""

    file: str
    line: int
    column: int
    where: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}  {self.where}: {self.message}" if self.where else f"{place}  {self.message}"


class InvalidManifest(NothingHappened):
    """Everything that can be known wrong before running, at once."""

    exit_code = 10

    def __init__(self, problems: Sequence[Problem], *, hint: str | None = None) -> None:
        self.problems = tuple(problems)
        super().__init__(
            "\n".join([*map(str, self.problems), f"{count_of(len(self.problems), 'error')}; nothing was run"]),
            hint=hint,
        )


class PreflightRefused(NothingHappened):
    """A module, its state place or its environment does not allow the run."""

    exit_code = 10


class CredentialsRefused(PreflightRefused):
    """The engine's credentials could not be had, or they are somebody else's."""


class EngineNotUsable(NothingHappened):
    exit_code = 40
    hint = "hybridwrap doctor"


class LedgerUnreachable(NothingHappened):
    exit_code = 30
    hint = "once the ledger can be reached: the same command again"


class IntentInDoubt(LedgerUnreachable):
    """Whether the intent is in the ledger, or its head, could not be told; the engine has not started.

    The operation's folder and locks must stay until its slot is seen filled: they prove that nothing ran.
    """


class WrongKey(LedgerUnreachable):
    """The key that is set is not the one that something in the ledger was encrypted with."""

    exit_code = 10
    hint = "give ledger.encryption the key that the ledger was written with, then: the same command again"


class LedgerDamaged(NothingHappened):
    exit_code = 33
    hint = "hybridwrap ledger verify"

    def __init__(self, message: str, *, hint: str | None = None, key: str = "") -> None:
        super().__init__(message, hint=hint)
        self.key = key  # of the object that is damaged, where that is known


class ApprovalOutdated(NothingHappened):
    exit_code = 5
    hint = "hybridwrap plan"


class ModuleBusy(NothingHappened):
    """Another operation holds the module."""

    exit_code = 20
    hint = "hybridwrap status"


class StateLocked(ModuleBusy):
    """Somebody else holds the engine's state lock; nothing was changed."""


class SlotTaken(NothingHappened):
    """Another entry followed the record that was planned on: read it again, then plan again or give way."""

    exit_code = 20
    hint = "hybridwrap status"


class PlanOutdated(NothingHappened):
    """The engine's state moved after the plan was made, past the ledger."""

    exit_code = 20
    hint = "the same command again"


class NeedChanged(PlanOutdated):
    """What the planned module needs was changed by another run after the plan was made."""


class LedgerMisused(HybridwrapError):
    """The ledger was asked for what its rules forbid; nothing was written."""


class Unexpected(HybridwrapError):
    """A bug: caught at the two boundaries, the command line and one module's work."""

    hint = "report it, with what -vv shows"


class NotPermitted(HybridwrapError):
    """A file that is needed may not be read or written, and nobody has said what it is."""

    hint = "give yourself the right to it, then: the same command again"


class OutputNotWritten(HybridwrapError):
    """What was printed found no place; what was done is recorded all the same."""


class ReaderGone(HybridwrapError):
    """Whoever read what was printed has closed it; the code is a shell's for a program that SIGPIPE has ended."""

    exit_code = 141


def as_told(error: Exception) -> HybridwrapError:
    """Say an error that was not expected in a line; the original is its cause."""
    told: HybridwrapError
    if isinstance(error, OSError) and error.filename is None and error.errno in (ENOSPC, EIO, EPIPE):
        told = OutputNotWritten(f"output can't be written: {error.strerror}")
    elif isinstance(error, PermissionError) and error.filename is not None:
        told = NotPermitted(f"{error.filename}: {error.strerror}")
    else:
        text = " ".join(str(error).split())
        told = Unexpected(f"this is a bug in hybridwrap: {type(error).__name__}: {text}; -vv shows where")
    told.__cause__ = error
    return told


class Superseded(HybridwrapError):
    """Another run took the module over while this one worked; the result is kept as late evidence."""

    exit_code = 21
    hint = "hybridwrap status"


class OutcomeUnknown(HybridwrapError):
    exit_code = 32
    hint = "hybridwrap reconcile"


class StateUnreadable(OutcomeUnknown):
    """What lies where the engine's state should be is never taken for an empty state: that would make all anew."""


class StateNotTheRecordedOne(HybridwrapError):
    """The engine's state is absent, older or of another lineage than the last record; nothing was changed."""

    exit_code = 32
    hint = "hybridwrap reconcile"


class ResultNotSent(HybridwrapError):
    exit_code = 34
    hint = "hybridwrap sync"


class EngineFailed(HybridwrapError):
    exit_code = 4


class Stopped(HybridwrapError):
    """A signal ended the run; what was running was ended gracefully and recorded."""

    exit_code = 130
    hint = "hybridwrap status"

    def __init__(self, message: str, *, terminated: bool = False, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        if terminated:
            self.exit_code = 143


GRAVEST_FIRST = (33, 32, 34, 21, 130, 143, 4, 5, 30, 20)


def gravest(codes: Sequence[int]) -> int:
    """The exit code that stands for several modules; an unlisted code outranks none of the listed ones."""
    ranked = [code for code in GRAVEST_FIRST if code in codes]
    return ranked[0] if ranked else max(codes, default=0)
