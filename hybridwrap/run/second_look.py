"""The look that an operation takes between its `begin` and its engine: at what others have begun since it was planned.

Keeps: of a module and one that it needs, never is the one applied while the other is torn down. Each side writes first
and looks then, so of two that begin at the same time at least one sees the other; where both do, both give way.
"""

from __future__ import annotations

from msgspec import Struct

from hybridwrap.domain.ledger import FRESH
from hybridwrap.domain.record import Record
from hybridwrap.domain.status import Status
from hybridwrap.domain.teardown import go_before, goes_with, in_the_way, needs_of, owned_in, rests_on
from hybridwrap.domain.told_time import in_utc
from hybridwrap.domain.transitions import held_by
from hybridwrap.errors import (
    LedgerDamaged,
    LedgerUnreachable,
    ModuleBusy,
    NeedChanged,
    NothingHappened,
    PreflightRefused,
)
from hybridwrap.run.context import Context
from hybridwrap.run.owners import gone_with_owner
from hybridwrap.run.preparation import Prepared

AGAIN = "the same command again"
LATER = f"once that is over: {AGAIN}"


class Objection(Struct, frozen=True):
    """Why an operation that was begun must end as if it had not been."""

    why: str
    kind: type[NothingHappened] = ModuleBusy
    hint: str = AGAIN

    @property
    def error(self) -> NothingHappened:
        again = self.kind is NeedChanged  # which is no end yet
        return self.kind(self.why if again else f"nothing ran: {self.why}", hint=self.hint)


def look_again(context: Context, prepared: Prepared) -> Objection | None:
    """Ask the ledger itself; that it can't be asked is an objection, too."""
    try:
        return _in_the_way_of(context, prepared) if context.options.plan.destroy else _without(context, prepared)
    except (LedgerUnreachable, LedgerDamaged) as error:
        return Objection(error.message, type(error), error.hint)


def refuse_without_needs(context: Context, name: str) -> None:
    """Stop before any plan where what a module needs is gone, or going. Raise ModuleBusy, PreflightRefused."""
    module, records = context.tools.stack.modules[name], context.knowledge.records
    names = rests_on(module.needs, records)
    gone = gone_with_owner({name: records[name] for name in names if name in records})
    for need in names:
        if need in gone:
            why = f"waits for {need}: that is gone with its owner {gone[need]}, which could not be recorded yet"
            raise PreflightRefused(why, hint="hybridwrap sync")
        record = context.knowledge.record(need)
        if _is_going(record) and _is_going(record := context.tools.ledger.record(need)):
            raise ModuleBusy(_going(record, module.owner), hint=LATER)


def _without(context: Context, prepared: Prepared) -> Objection | None:
    """Look at all that a module needs, and at what takes that with it."""
    module = prepared.module
    names = rests_on(module.needs, context.knowledge.records)
    known = {name: context.knowledge.record(name) for name in names}
    now = context.tools.ledger.again(tuple(known.values()))
    for name in names:
        if _is_going(now[name]):
            return Objection(_going(now[name], module.owner), hint=LATER)
        if known[name].settled not in FRESH and now[name].settled in FRESH:
            return Objection(_went(now[name], module.owner))
    changed = [name for name in names if _given(now[name]) != _given(known[name])]
    for name in changed:
        context.knowledge.learn_anew(now[name])
    return Objection(f"{', '.join(changed)} was changed after the plan was made", NeedChanged) if changed else None


def _is_going(record: Record) -> bool:
    return record.holder is not None and record.holder.command == "destroy"


def _going(record: Record, owner: str) -> str:
    by = f" by run {record.holder.run} of {record.holder.writer}" if record.holder else ""
    return f"{_named(record, owner)} is being destroyed{by} since {in_utc(record.since)}"


def _went(record: Record, owner: str) -> str:
    if record.settled is Status.DESTROYED:
        return f"{_named(record, owner)} was destroyed meanwhile, by run {record.run} of {record.by}"
    return f"{_named(record, owner)} is not there any more: {record.reason}"


def _named(record: Record, owner: str) -> str:
    return f"its owner {record.module}" if record.module == owner else record.module


def _given(record: Record) -> object:
    """What goes into the plans of those that need a module."""
    return record.incarnation, record.state, record.outputs


def _in_the_way_of(context: Context, prepared: Prepared) -> Objection | None:
    """Look at all that must be gone before a module, or goes with it."""
    name, tools = prepared.module.name, context.tools
    records = tools.ledger.records(tools.stack.modules)
    owned = owned_in(records, (name,))
    first = go_before(needs_of(tools.stack, records), owned).get(name, ())
    for other in (*first, *goes_with(name, owned)):
        record = records.get(other, Record(other))
        if record.holder:
            return Objection(f"{other} is {held_by(record)}")
        if other in first and in_the_way(record):
            return Objection(f"{other} was applied meanwhile")
    return None
