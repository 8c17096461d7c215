"""Carry out plans, made again where somebody else acted on the module meanwhile.

Keeps: an approval covers no plan that does more than the one that was shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hybridwrap.domain.engine_run import PlannedChange
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.saved import not_covered
from hybridwrap.errors import ApprovalOutdated, NeedChanged, PlanOutdated, SlotTaken
from hybridwrap.run.context import Context
from hybridwrap.run.preparation import Prepared
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
            return prepared if isinstance(prepared, ModuleEnd) else _carried_out(context, prepared, plan)
        except (PlanOutdated, SlotTaken) as error:
            if not tries_left:
                raise
            what = error.message if isinstance(error, NeedChanged) else "somebody else acted on it meanwhile"
            context.watch.warning(name, f"{what}; planning again")
            context.knowledge.learn(context.tools.ledger.record(name))
    raise AssertionError("the last try returns or raises")


def _carried_out(context: Context, prepared: Prepared, plan: Plan) -> ModuleEnd:
    from hybridwrap.run.retry import carry_out_with_retries  # with all that an unchanged module does without

    return carry_out_with_retries(context, prepared, plan)


def carry_out_approved(
    context: Context, name: str, approved: Sequence[PlannedChange], plan: Plan, first: Prepared | None = None
) -> ModuleEnd:
    """Carry out `first`, else what `plan` makes, and only what does nothing beyond the approved changes."""
    plans = iter([first] if first else [])

    def next_plan() -> Prepared | ModuleEnd:
        return within_approval(context, name, approved, next(plans, None) or plan())

    return carry_out_plan(context, name, next_plan)


def within_approval(
    context: Context, name: str, approved: Sequence[PlannedChange], made: Prepared | ModuleEnd
) -> Prepared | ModuleEnd:
    """Pass on a plan that does nothing beyond the approved changes. Raise ApprovalOutdated for any other."""
    more = not_covered(approved, made.actions) if isinstance(made, Prepared) else ()
    if isinstance(made, Prepared) and more:
        made.folder.remove()
        told = "\n".join(f"  {line}" for line in more)
        destroy = " --destroy" * context.options.plan.destroy
        raise ApprovalOutdated(
            f"{name}: another plan had to be made, and it does more than the approved one:\n{told}",
            hint=f"hybridwrap plan{destroy}{' --save' * bool(context.options.saved)}",
        )
    return made
