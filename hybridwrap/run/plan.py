"""Plan modules: nothing is recorded, nothing is mocked; what needs a value that is not there yet is deferred."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hybridwrap.domain.engine_run import Action
from hybridwrap.domain.record import sound
from hybridwrap.domain.run import ModuleEnd, RunEnd
from hybridwrap.errors import LedgerDamaged
from hybridwrap.run.context import Context
from hybridwrap.run.lookalike import refuse_double
from hybridwrap.run.needs import resolve
from hybridwrap.run.preparation import Prepared, prepare
from hybridwrap.run.recorded import end_of_run
from hybridwrap.run.walk import forward, walk

PLANNED_WELL = frozenset({"planned", "unchanged", "deferred"})
Show = Callable[[Prepared], None]
Moving = dict[str, frozenset[str]]  # outputs that a plan of this run would change; each module's turn sets its own


def plan(context: Context, modules: Sequence[str], show: Show) -> RunEnd:
    """Plan each module on the outputs that are known now; `show` gets each plan that has changes."""
    moving: Moving = {}
    way = forward(context, modules, PLANNED_WELL)
    ends = walk(context, modules, lambda name: _plan(context, name, moving, show), way)
    return end_of_run(context, ends)


def _plan(context: Context, name: str, moving: Moving, show: Show) -> ModuleEnd:
    module = context.tools.stack.modules[name]
    sound(context.knowledge.record(name))
    will_change = [
        str(reference) for reference in module.references if reference.output in moving.get(reference.module, ())
    ]
    will_change += [f"the state of {other}" for other in module.reads if moving.get(other)]
    if will_change:
        return _deferred(moving, context, name, f"needs {', '.join(will_change)}, which this plan would change")
    refuse_double(context, name)
    inputs = resolve(context, name)
    if isinstance(inputs, ModuleEnd):
        if inputs.exit_code == LedgerDamaged.exit_code:
            return inputs
        return _deferred(moving, context, name, f"needs {_missing(inputs)}")
    prepared = prepare(context, module, inputs)
    try:
        if not prepared.planned.changes:
            return ModuleEnd("unchanged", seconds=prepared.planned.ended.seconds)
        changes = prepared.planned.stream.output_changes
        moving[name] = frozenset(output for output, change in changes.items() if change.action is not Action.NOOP)
        show(prepared)
        return ModuleEnd("planned", counts=planned_counts(prepared), seconds=prepared.planned.ended.seconds)
    finally:
        prepared.folder.remove()


def _deferred(moving: Moving, context: Context, name: str, reason: str) -> ModuleEnd:
    moving[name] = frozenset(context.tools.stack.modules[name].interface.outputs)
    return ModuleEnd("deferred", reason=reason)


def _missing(end: ModuleEnd) -> str:
    """Values of this stack by name; for those of another one also why they can't be used."""
    return end.reason.removeprefix("waits for ") if "/" in end.waits_for else end.waits_for


def planned_counts(prepared: Prepared) -> Mapping[str, int]:
    return next((s.changes for s in prepared.planned.stream.summaries if s.operation == "plan"), {})
