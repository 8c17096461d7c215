"""Take a saved plan for the plan of a module, as long as nothing that it rests on has moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from hybridwrap.domain.engine_run import Ended
from hybridwrap.domain.entry import Begin, End, Entry
from hybridwrap.domain.inputs import ResolvedInputs
from hybridwrap.domain.ports import Planned
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.saved import Basis, Now, SavedInputs, SavedRun, moved
from hybridwrap.domain.stack import Module
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.errors import ApprovalOutdated, EngineFailed
from hybridwrap.run.context import Context
from hybridwrap.run.masking import mask_of
from hybridwrap.run.preparation import Prepared, initialised, look, taken_up
from hybridwrap.run.saving import inputs_of

HAS_CHANGES = 2  # exit code of the engine's plan


def prepared_by(
    context: Context, module: Module, inputs: ResolvedInputs, basis: Basis, saved: SavedInputs
) -> Prepared | tuple[str, ...]:
    """Lay the saved plan out for the engine, or say what has moved since. Raise as `prepare` does, ApprovalOutdated."""
    record, engine, folder = taken_up(context, module, inputs)
    with ExitStack() as unless_used:
        unless_used.callback(folder.remove)
        initialised(context, engine, folder, inputs, module.name)
        state, comparison = look(context, engine, record)
        source = context.tools.sources.describe(module)
        now = Now(record, comparison.found, source, engine.identity, inputs_of(module, inputs))
        if reasons := tuple(moved(basis, saved, now)):
            return reasons
        stream = folder.take_plan(context.tools.ledger.saved.get(context.options.saved, basis.plan), basis.digest)
        if folder.plan_names(basis.folder, module.source):
            return (f"it has values in it that tell where it was made, in {basis.folder}",)
        context.knowledge.learn_secrets(module.name, state)
        unless_used.pop_all()
    planned = Planned(Ended(HAS_CHANGES), stream, changes=True, digest=basis.digest)
    return Prepared(
        module, engine, folder, record, inputs, planned, state, comparison, source, mask_of(context, inputs)
    )


def used_up(context: Context, record: Record, basis: Basis) -> ModuleEnd | None:
    """End a module whose saved plan was carried out already, None while it was not."""
    found = _user(context, record, basis)
    if found is None:
        return None
    begun, end = found
    if end and end.status in (Status.OK, Status.DESTROYED):
        return ModuleEnd("unchanged", reason=f"run {begun.run} has carried its plan out already", skipped=True)
    how = f"{end.status}: {end.reason}" if end else "no end yet"
    return ModuleEnd(
        "refused",
        EngineFailed.exit_code,
        reason=f"its plan is used up: run {begun.run} carried it out, with the end {how}",
        hint=f"hybridwrap why {record.module}",
    )


def refuse_used_up(context: Context, saved: SavedRun, modules: Sequence[str]) -> None:
    """Raise ApprovalOutdated when nothing is left of the plans that a saved run had for these modules.

    Who comes late to a run that many processes share has nothing left to do, and that is well.
    """
    plans = [(context.knowledge.record(name), plan.basis) for name in modules if (plan := saved.modules[name]).basis]
    users = [_user(context, record, basis) for record, basis in plans if basis]
    runs = dict.fromkeys(begun.run for begun, end in filter(None, users) if end)
    if users and all(user and user[1] for user in users) and set(runs) != {context.run}:
        by = " and ".join(runs)
        last = f"hybridwrap show {max(runs)}"
        raise ApprovalOutdated(f"run {saved.run} is used up: run {by} carried it out", hint=last)


def _user(context: Context, record: Record, basis: Basis) -> tuple[Begin, End | None] | None:
    """Find the intent that has used a saved plan up, with its end."""
    if record.tail == basis.tail:
        return None
    since = [entry for entry in context.tools.ledger.history(record.module) if entry.seq > basis.seq]
    for entry in since:
        if isinstance(entry.body, Begin) and entry.body.saved == context.options.saved:
            end = next(_ends(since, entry.operation), None)
            if end is None or end.outcome is not Outcome.CANCELLED:
                return entry.body, end
    return None


def _ends(entries: Sequence[Entry], operation: str) -> Iterator[End]:
    return (each.body for each in entries if each.operation == operation and isinstance(each.body, End))
