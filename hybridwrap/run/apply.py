"""Apply modules: each is planned, compared with its record, approved, recorded as begun, applied, recorded as ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hybridwrap.domain.run import ModuleEnd, RunEnd
from hybridwrap.run.adopt import adopted_on_the_way
from hybridwrap.run.context import Context
from hybridwrap.run.doubts import clear_doubts, refuse_to_make_again
from hybridwrap.run.hooks import after_turn
from hybridwrap.run.limits import within_guard
from hybridwrap.run.lookalike import refuse_double
from hybridwrap.run.needs import resolve
from hybridwrap.run.overtaken import carry_out_approved, carry_out_plan
from hybridwrap.run.preparation import Prepared, prepare
from hybridwrap.run.recorded import recorded_run
from hybridwrap.run.second_look import refuse_without_needs
from hybridwrap.run.skipping import skipped, told_of_skipped
from hybridwrap.run.turn import wait_for_turn, when_unlocked
from hybridwrap.run.unchanged import settle_unchanged
from hybridwrap.run.walk import Approve, forward, walk, walk_in_waves


def apply(context: Context, modules: Sequence[str], approve: Approve | None, *, command: str = "apply") -> RunEnd:
    """Apply the modules; without `approve` every plan counts as approved. Raise LedgerUnreachable before it."""

    def work() -> Mapping[str, ModuleEnd]:
        ends = _walked(context, modules, approve)
        told_of_skipped(context, ends)
        return ends

    return recorded_run(context, command, modules, work)


def _walked(context: Context, modules: Sequence[str], approve: Approve | None) -> Mapping[str, ModuleEnd]:
    way = forward(context, modules, after=after_turn)
    if approve is None:
        return walk(context, modules, lambda name: _at_once(context, name), way)
    return walk_in_waves(
        context,
        modules,
        lambda name: when_unlocked(context, name, lambda: plan_to_apply(context, name)),
        approve,
        lambda plan: _as_approved(context, plan),
        way,
    )


def plan_to_apply(context: Context, name: str) -> Prepared | ModuleEnd:
    """Plan a module, or end it where there is nothing to approve."""
    wait_for_turn(context, name)
    refuse_double(context, name)
    refuse_without_needs(context, name)
    began = context.tools.clock.monotonic()
    inputs = resolve(context, name)
    if isinstance(inputs, ModuleEnd):
        return inputs
    if end := skipped(context, name, inputs):
        return end
    clear_doubts(context, name, inputs)
    prepared = adopted_on_the_way(context, prepare(context, context.tools.stack.modules[name], inputs))
    refuse_to_make_again(prepared)
    if prepared.planned.changes:
        return prepared
    return settle_unchanged(context, prepared, context.tools.clock.monotonic() - began)


def _at_once(context: Context, name: str) -> ModuleEnd:
    return carry_out_plan(context, name, lambda: within_guard(context, plan_to_apply(context, name)))


def _as_approved(context: Context, approved: Prepared) -> ModuleEnd:
    name = approved.module.name
    return carry_out_approved(context, name, approved.actions, lambda: plan_to_apply(context, name), approved)
