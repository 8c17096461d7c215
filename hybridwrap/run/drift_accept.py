"""Accept drift, or not any more: somebody's decision, with a reason and a last day, kept in the module's log."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hybridwrap.domain.charter import stamp
from hybridwrap.domain.drift import Acceptance, Difference, Drift
from hybridwrap.domain.entry import Observe
from hybridwrap.domain.record import Record
from hybridwrap.errors import SlotTaken, UsageError
from hybridwrap.run.context import Tools

TRIES = 3


def accept(tools: Tools, target: str, module: str, *, until: str, reason: str) -> tuple[str, Acceptance]:
    """Accept what was found at an address, and all below it; return the module that it was found in.

    `module` "" is for an address that was found in one module alone. Raise UsageError, ModuleBusy, LedgerUnreachable.
    """
    now = stamp(tools.clock.now())
    if until < now[:10]:
        raise UsageError(f"--until {until} is over; give a day that is to come")
    acceptance = Acceptance(target, until, reason, str(tools.ledger.writer), now)
    name = _module_of(target, module, tools.ledger.records(tools.stack.modules))
    _record(tools, name, f"drift accepted: {reason}", lambda drift: drift.accepting(acceptance))
    return name, acceptance


def withdraw(tools: Tools, target: str, module: str, *, reason: str) -> str:
    """Take back a decision, named by the address that it is about; return its module. Raise as `accept` does."""
    decided = {
        name: [each.target for each in record.drift.accepted]
        for name, record in sorted(tools.ledger.records(tools.stack.modules).items())
        if record.drift and module in ("", name)
    }
    found = [name for name, targets in decided.items() if target in targets]
    if len(found) > 1:
        raise UsageError(f"{target} is accepted in {', '.join(found)}", hint="say which one with --module")
    if not found:
        there = ", ".join(f"{name}: {each}" for name, targets in decided.items() for each in targets)
        raise UsageError(f"nothing was accepted at {target}; accepted are: {there or 'none'}", hint="hybridwrap drift")
    _record(tools, found[0], f"drift acceptance withdrawn: {reason}", lambda drift: drift.withdrawing(target))
    return found[0]


def _module_of(target: str, module: str, records: Mapping[str, Record]) -> str:
    probe = Acceptance(target, "", "")
    seen = {n: r.drift.differences for n, r in sorted(records.items()) if r.drift and module in ("", n)}
    found = [name for name, differences in seen.items() if any(map(probe.concerns, differences))]
    if len(found) > 1:
        raise UsageError(f"{target} drifted in {', '.join(found)}", hint="say which one with --module")
    if not found:
        raise UsageError(f"no drift is recorded at {target}{_there_is(seen)}", hint="hybridwrap drift")
    return found[0]


def _there_is(seen: Mapping[str, tuple[Difference, ...]]) -> str:
    found = ((name, each) for name, differences in seen.items() for each in differences)
    there = [f"{name}: {place}" for name, each in found for place in each.places or (each.address,)]
    return f"; there is {', '.join(there[:5])}" if there else ""


def _record(tools: Tools, name: str, reason: str, decided: Callable[[Drift], Drift]) -> None:
    for tries_left in reversed(range(TRIES)):
        record = tools.ledger.record(name)
        try:
            tools.ledger.observe(record, Observe("", reason, drift=decided(record.drift or Drift())))
        except SlotTaken:
            if not tries_left:
                raise
        else:
            return
