"""Carry out plans, made again where somebody else acted on the module meanwhile.

Keeps: an approval covers no plan that does more than the one that was shown.
"""

from __future__ import annotations

from collections.abc import Callable

from hybridwrap.domain.run import ModuleEnd
from hybridwrap.errors import ApprovalOutdated, PlanOutdated, SlotTaken
from hybridwrap.run.context import Context
from hybridwrap.run.preparation import Prepared
from hybridwrap.run.retry import carry_out_with_retries
from hybridwrap.run.turn import when_unlocked

TRIES = 3  # how often a module is planned again because somebody else acted on it meanwhile

Plan = Callable[[], Prepared | ModuleEnd]


def carry_out_plan(context: Context, name: str, plan: Plan) -> ModuleEnd:
    """Carry out what `plan` makes, unless that is an end already; wait for the state lock where that is asked for."""
    return when_unlocked(context, name, lambda: _carry_out(context, name, plan))


def _carry_out(context: Context, name: str, plan: Plan) -> ModuleEnd:
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


def carry_out_approved(context: Context, approved: Prepared, plan: Plan) -> ModuleEnd:
    """Carry out an approved plan; when another one had to be made, only if it does nothing more."""
    name = approved.module.name
    plans = iter([approved])

    def next_plan() -> Prepared | ModuleEnd:
        made = next(plans, None) or plan()
        if isinstance(made, Prepared) and not set(made.actions) <= set(approved.actions):
            made.folder.remove()
            raise ApprovalOutdated(f"{name}: another plan had to be made, and it does more than the approved one")
        return made

    return carry_out_plan(context, name, next_plan)
