"""Apply modules: each is planned, compared with its record, approved, recorded as begun, applied, recorded as ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hybridwrap.domain.run import ModuleEnd, RunEnd
from hybridwrap.errors import ApprovalOutdated, PlanOutdated, SlotTaken
from hybridwrap.run.adopt import adopted_on_the_way
from hybridwrap.run.context import Context
from hybridwrap.run.needs import resolve
from hybridwrap.run.preparation import Prepared, prepare
from hybridwrap.run.recorded import recorded_run
from hybridwrap.run.retry import carry_out_with_retries
from hybridwrap.run.unchanged import settle_unchanged
from hybridwrap.run.walk import Approve, walk, walk_in_waves

TRIES = 3  # how often a module is planned again because somebody else acted on it meanwhile


def apply(context: Context, modules: Sequence[str], approve: Approve | None) -> RunEnd:
    """Apply the modules; without `approve` every plan counts as approved. Raise LedgerUnreachable before it."""

    def work() -> Mapping[str, ModuleEnd]:
        if approve is None:
            return walk(context, modules, lambda name: _at_once(context, name))
        return walk_in_waves(
            context, modules, lambda name: _prepared(context, name), approve, lambda plan: _as_approved(context, plan)
        )

    return recorded_run(context, "apply", modules, work)


def _prepared(context: Context, name: str) -> Prepared | ModuleEnd:
    """Plan a module, or end it where there is nothing to approve."""
    began = context.tools.clock.monotonic()
    inputs = resolve(context, name)
    if isinstance(inputs, ModuleEnd):
        return inputs
    prepared = adopted_on_the_way(context, prepare(context, context.tools.stack.modules[name], inputs))
    if prepared.planned.changes:
        return prepared
    return settle_unchanged(context, prepared, context.tools.clock.monotonic() - began)


def _at_once(context: Context, name: str) -> ModuleEnd:
    return _again_when_overtaken(context, name, lambda: _prepared(context, name))


def _as_approved(context: Context, approved: Prepared) -> ModuleEnd:
    """Carry out an approved plan; when another one had to be made, only if it does nothing more."""
    name = approved.module.name
    plans = iter([approved])

    def next_plan() -> Prepared | ModuleEnd:
        plan = next(plans, None) or _prepared(context, name)
        if isinstance(plan, Prepared) and not set(plan.actions) <= set(approved.actions):
            plan.folder.remove()
            raise ApprovalOutdated(f"{name}: another plan had to be made, and it does more than the approved one")
        return plan

    return _again_when_overtaken(context, name, next_plan)


def _again_when_overtaken(context: Context, name: str, plan: Callable[[], Prepared | ModuleEnd]) -> ModuleEnd:
    for tries_left in reversed(range(TRIES)):
        try:
            prepared = plan()
            return prepared if isinstance(prepared, ModuleEnd) else carry_out_with_retries(context, prepared, plan)
        except (PlanOutdated, SlotTaken):
            if not tries_left:
                raise
            context.watch.warning(name, "somebody else acted on it meanwhile; planning again")
            context.knowledge.learn(context.tools.ledger.record(name))
    raise AssertionError("the last try returns or raises")
