"""Outputs of other stacks, read from their ledgers: only what was applied well and has not changed since is used.

Keeps: nothing is written to another stack's ledger, and what is secret there is secret here.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock

from hybridwrap.domain.families import instances
from hybridwrap.domain.inputs import Wait
from hybridwrap.domain.json import Json
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.outputs import Output
from hybridwrap.domain.record import Record
from hybridwrap.domain.stack import OtherStack, Reference
from hybridwrap.domain.state import EngineState
from hybridwrap.domain.status import Status
from hybridwrap.errors import LedgerDamaged

SHOWN = 12  # names in one message
USABLE = frozenset({Status.OK, Status.RETAINED})

StateOf = Callable[[OtherStack, str], EngineState]  # raises LookupError, with the reason, where it can't be read


def _nobody(other: OtherStack, *_: str) -> EngineState:
    raise LookupError(f"nobody reads the states of {other.name}")


@dataclass(eq=False)
class OtherStacks:
    """Safe for several threads. Every question is answered by what the ledger says at that moment."""

    declared: Mapping[str, OtherStack] = field(default_factory=dict)
    ledger_of: Callable[[OtherStack], Ledger] | None = None
    state_of: StateOf = _nobody
    _ledgers: dict[str, Ledger] = field(default_factory=dict, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def record(self, module: str) -> Record:
        """Read the record of STACK/MODULE. Raise LedgerUnreachable."""
        stack, _, name = module.partition("/")
        ledger = self._ledger(stack)
        try:
            return ledger.record(name)
        except LedgerDamaged as error:
            return ledger.broken_off(Record(name), error)

    def output(self, reference: Reference) -> Output | Wait:
        """Say what its ledger has of an output, or why that must not be used now. Raise LedgerUnreachable."""
        record = self.record(reference.module)
        if record.status not in USABLE:
            why = self._why_not(reference, record)
            return Wait(reference, f"{reference} is waited for: {why}", why)
        found = record.outputs.get(reference.output)
        return found or Wait(reference, f"{reference} is not there: {self._told(reference)} has no such output")

    def last_output(self, reference: Reference) -> Output | None:
        """What its ledger has of an output, however its module stands. Raise LedgerUnreachable."""
        return self.record(reference.module).outputs.get(reference.output)

    def secret(self, reference: Reference) -> Json:
        """Read a sensitive output from the state that its record speaks of. Raise LookupError with why not."""
        stack, _, name = reference.module.partition("/")
        state, recorded = self.state_of(self.declared[stack], name), self.record(reference.module).state
        if not recorded or (state.lineage, state.serial) != (recorded.lineage, recorded.serial):
            raise LookupError(
                f"{reference} is a secret, and the state of {self._told(reference)} is not the recorded one"
            )
        if reference.output not in state.outputs:
            raise LookupError(f"{reference} is a secret, and is not in the state of {self._told(reference)}")
        return state.outputs[reference.output].value

    def next_for(self, reference: Reference) -> str:
        """The command that says more, or helps, in the other stack; "" where only its ledger is known."""
        stack, _, name = reference.module.partition("/")
        other = self.declared[stack]
        if other.manifest is None:
            return ""
        record = self.record(reference.module)
        command = "apply" if record.status in (Status.NONE, Status.DESTROYED) else "why"
        if record.damage:
            command = "ledger verify"
        return f"hybridwrap {command} {name} -e {other.environment} -f {shlex.quote(other.written)}"

    def _ledger(self, stack: str) -> Ledger:
        with self._lock:
            if stack not in self._ledgers:
                if self.ledger_of is None:
                    raise AssertionError(f"nobody reads the ledger of {stack}")
                self._ledgers[stack] = self.ledger_of(self.declared[stack])
            return self._ledgers[stack]

    def _told(self, reference: Reference) -> str:
        stack, _, name = reference.module.partition("/")
        other = self.declared[stack]
        return f"{name} of stack {other.name} in {other.environment}"

    def _why_not(self, reference: Reference, record: Record) -> str:
        told = self._told(reference)
        if record.damage:
            return f"the log of {told} is damaged: {record.damage}"
        match record.status:
            case Status.ERROR | Status.UNKNOWN as status:
                how = "in error" if status is Status.ERROR else "unknown"
                return f"{told} is {how} since {_minute(record)}, after {record.command} by {record.by}"
            case Status.RUNNING:
                return f"{told} is being changed: {record.command} by {record.by} since {_minute(record)}"
            case Status.DESTROYED:
                return f"{told} was destroyed"
        return self._not_there(reference, told)

    def _not_there(self, reference: Reference, told: str) -> str:
        stack, _, name = reference.module.partition("/")
        ledger = self._ledger(stack)
        if not ledger.exists():
            place = "" if self.declared[stack].manifest else f": there is no ledger of it at {ledger.place}"
            return f"{told} was not applied{place}"
        known = ledger.records()
        if found := instances(name, known):
            keys = f"stacks.{stack}.modules['{found[0]}'].…"
            return f"{told} is a module for each of several values: name one of {', '.join(found)}, as in {keys}"
        there = f"; its ledger has: {', '.join(sorted(known))}" if len(known) <= SHOWN and known else ""
        return f"{told} was not applied{there}"


def _minute(record: Record) -> str:
    """Since when a module stands as it does, for people."""
    return f"{record.since[:16].replace('T', ' ')} UTC"
