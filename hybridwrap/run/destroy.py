"""Tear modules down: dependants first, each as one recorded operation, and gone only when that was looked for.

Keeps: no module is begun while anything that needs it may still be there; what is protected is told before anything
starts; what could not be begun keeps the status that it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hybridwrap.domain.graph import order
from hybridwrap.domain.run import ModuleEnd, RunEnd
from hybridwrap.domain.teardown import go_before, in_the_way, needs_of, owned_in
from hybridwrap.run.context import Context
from hybridwrap.run.destroy_one import planned
from hybridwrap.run.hooks import after_turn
from hybridwrap.run.left_alone import Teardown, Wishes
from hybridwrap.run.limits import within_guard
from hybridwrap.run.overtaken import carry_out_approved, carry_out_plan
from hybridwrap.run.owned import try_to_settle
from hybridwrap.run.preparation import Prepared
from hybridwrap.run.protected import protected_parts, refuse_protected
from hybridwrap.run.recorded import recorded_run
from hybridwrap.run.turn import when_unlocked
from hybridwrap.run.walk import Approve, Way, walk, walk_in_waves

GONE = frozenset({"destroyed", "retained", "unchanged"})


def destroy(context: Context, modules: Sequence[str], approve: Approve | None, wishes: Wishes) -> RunEnd:
    """Tear the modules down; without `approve` every plan counts as approved.

    Raise PreflightRefused for what is protected, LedgerUnreachable; nothing was started then.
    """
    if not wishes.keep_protected:
        refuse_protected(context, modules)
    down = teardown(context, modules, wishes)
    way = way_of(down)

    def work() -> Mapping[str, ModuleEnd]:
        if approve is None:
            return walk(context, down.modules, lambda name: _at_once(down, name), way)
        return walk_in_waves(
            context,
            down.modules,
            lambda name: when_unlocked(context, name, lambda: _to_ask(down, name)),
            approve,
            lambda plan: _as_approved(down, plan),
            way,
        )

    return recorded_run(context, "destroy", down.modules, work, way.needs)


def way_of(down: Teardown) -> Way:
    records = down.context.knowledge.records
    there = {name for name in down.before if name in down.modules or (name in records and in_the_way(records[name]))}
    whole = {name: [each for each in down.before[name] if each in there] for name in there}
    return Way({name: down.before[name] for name in down.modules}, GONE, _not_reached, whole, after_turn)


def teardown(context: Context, modules: Sequence[str], wishes: Wishes) -> Teardown:
    """Put the modules into the order in which they are torn down."""
    records = context.knowledge.records
    alone = wishes.alone | {name for name in records if protected_parts(context, name)}
    owned = owned_in(records, alone)
    before = go_before(needs_of(context.tools.stack, records), owned)
    with_owner = {name: owner for name, owner in owned.items() if before[name] == (owner,)}
    return Teardown(context, wishes, tuple(n for n in order(before) if n in modules), before, with_owner)


def _at_once(down: Teardown, name: str) -> ModuleEnd:
    def plan() -> Prepared | ModuleEnd:
        return within_guard(down.context, planned(down, name))

    return with_all_that_it_owned(down, name, carry_out_plan(down.context, name, plan))


def _to_ask(down: Teardown, name: str) -> Prepared | ModuleEnd:
    """Plan a module; where nothing would be destroyed there is nothing to ask, only to look whether it is gone."""
    prepared = planned(down, name)
    if isinstance(prepared, ModuleEnd) or prepared.actions:
        return prepared
    return _as_approved(down, prepared)


def _as_approved(down: Teardown, approved: Prepared) -> ModuleEnd:
    name = approved.module.name
    end = carry_out_approved(down.context, name, approved.actions, lambda: planned(down, name), approved)
    return with_all_that_it_owned(down, name, end)


def with_all_that_it_owned(down: Teardown, name: str, end: ModuleEnd) -> ModuleEnd:
    """Record what went with a module and has no turn of its own in this run."""
    if end.result == "destroyed":
        _settle_owned_by(down, name)
    return end


def _settle_owned_by(down: Teardown, name: str) -> None:
    for child, owner in down.owned.items():
        if owner == name and child not in down.modules and try_to_settle(down.context, child, owner):
            down.context.watch.warning(child, f"gone with its owner {owner}: recorded as destroyed")
            _settle_owned_by(down, child)


def _not_reached(context: Context, _name: str, blocked_by: tuple[str, ...]) -> ModuleEnd:
    reason = f"teardown waits for {', '.join(blocked_by)}" if blocked_by else context.stop.reason
    return ModuleEnd("kept", reason=reason, waits_for=blocked_by[0] if blocked_by else "")
