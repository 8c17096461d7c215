"""What can go wrong with a call of the fake cloud; several faults may strike one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase


class Operation(StrEnum):
    CREATE = "create"
    READ = "read"
    UPDATE = "update"
    DELETE = "delete"
    STOP = "stop"  # the engine was interrupted and says so to the provider


class Fault(StrEnum):
    """Written `slow=2` with an argument; SLOW, HANG and CRASH strike after the cloud has done what it was asked."""

    FAIL_BEFORE = "fail-before"  # refused, nothing made
    FAIL_ONCE_BEFORE = "fail-once-before"
    TAKEN = "taken"  # refused: there is one of that name
    MADE_NO_ANSWER = "made-no-answer"  # made, then an error without an id
    PARTIAL = "partial"  # made, then an error with the id: tainted in the engine's state
    GONE = "gone"  # made, then "there is no such object": alive and in no state
    UPDATE_FAILS = "update-fails"
    DELETE_FAILS = "delete-fails"
    DELETE_ONCE_FAILS = "delete-once-fails"
    LIES_DELETED = "lies-deleted"  # says deleted, and the object lives on
    HIDDEN = "hidden"  # reads say that it is not there; it lives
    READ_FAILS = "read-fails"  # reads are forbidden: neither there nor gone
    SLOW = "slow"  # slow=SECONDS: the answer takes that long
    HANG = "hang"  # no answer until the fault is lifted
    CRASH = "crash"  # the provider's process dies instead of answering


_ANSWER_FAULTS = frozenset({Fault.SLOW, Fault.HANG, Fault.CRASH})
STRIKES: Mapping[Operation, frozenset[Fault]] = {
    Operation.CREATE: _ANSWER_FAULTS
    | {Fault.FAIL_BEFORE, Fault.FAIL_ONCE_BEFORE, Fault.TAKEN, Fault.MADE_NO_ANSWER, Fault.PARTIAL, Fault.GONE},
    Operation.READ: frozenset({Fault.HIDDEN, Fault.READ_FAILS}),
    Operation.UPDATE: _ANSWER_FAULTS | {Fault.UPDATE_FAILS},
    Operation.DELETE: _ANSWER_FAULTS | {Fault.DELETE_FAILS, Fault.DELETE_ONCE_FAILS, Fault.LIES_DELETED},
    Operation.STOP: frozenset(),
}


@dataclass(frozen=True, slots=True)
class Injected:
    """A fault for all objects whose name fits a shell pattern."""

    pattern: str
    fault: Fault
    argument: str = ""

    @classmethod
    def parse(cls, pattern: str, text: str) -> Injected:
        kind, _, argument = text.partition("=")
        return cls(pattern, Fault(kind), argument)

    def strikes(self, operation: Operation, name: str) -> bool:
        return self.fault in STRIKES[operation] and fnmatchcase(name, self.pattern)
