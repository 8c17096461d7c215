"""Show what a destroy would do, in the order in which it would: nothing is recorded, nothing is begun."""

from __future__ import annotations

from collections.abc import Sequence

from hybridwrap.domain.run import ModuleEnd, RunEnd
from hybridwrap.run.busy import refuse_busy
from hybridwrap.run.context import Context
from hybridwrap.run.destroy import teardown
from hybridwrap.run.destroy_one import planned_by_engine
from hybridwrap.run.left_alone import Teardown, Wishes, left_alone
from hybridwrap.run.plan import Show, planned_counts
from hybridwrap.run.recorded import end_of_run
from hybridwrap.run.walk import Way, walk

PLANNED_WELL = frozenset({"planned", "unchanged", "retained", "kept"})


def plan_teardown(context: Context, modules: Sequence[str], show: Show) -> RunEnd:
    """Plan the destruction of modules; what goes without an engine is only said."""
    down = teardown(context, modules, Wishes(keep_protected=True))
    way = Way({name: down.before[name] for name in down.modules}, PLANNED_WELL)
    return end_of_run(context, walk(context, down.modules, lambda name: _plan(down, name, show), way))


def _plan(down: Teardown, name: str, show: Show) -> ModuleEnd:
    context = down.context
    record = context.knowledge.record(name)
    refuse_busy(context, record)
    if end := left_alone(down, name, record):
        return end
    if name in down.owned:
        return ModuleEnd("planned", reason=f"goes with its owner {down.owned[name]}")
    if context.tools.stack.modules[name].on_destroy == "retain":
        return ModuleEnd("retained", reason="on_destroy: retain")
    planned = planned_by_engine(down, name, record, import_known=False)
    if isinstance(planned, ModuleEnd):
        return planned
    try:
        if not planned.actions:
            return ModuleEnd("unchanged", reason="nothing to destroy; whether it is gone has to be looked for")
        show(planned)
        return ModuleEnd("planned", counts=planned_counts(planned), seconds=planned.planned.ended.seconds)
    finally:
        planned.folder.remove()
