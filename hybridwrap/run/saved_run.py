"""Apply a saved run, or destroy by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from msgspec.structs import replace

from hybridwrap.domain.codec import shaped
from hybridwrap.domain.inputs import ResolvedInputs
from hybridwrap.domain.json import loads
from hybridwrap.domain.run import ModuleEnd, RunEnd
from hybridwrap.domain.saved import PLAN_AGAIN, SavedRun, Seal
from hybridwrap.domain.stack import FromCaller, Module, Stack
from hybridwrap.errors import ApprovalOutdated, PreflightRefused
from hybridwrap.run.adopt import adopted_on_the_way
from hybridwrap.run.apply import plan_to_apply
from hybridwrap.run.context import Context
from hybridwrap.run.destroy import teardown, way_of, with_all_that_it_owned
from hybridwrap.run.destroy_one import planned
from hybridwrap.run.doubts import clear_doubts, refuse_to_make_again
from hybridwrap.run.ends import waiting_end
from hybridwrap.run.hooks import after_turn
from hybridwrap.run.left_alone import Teardown, Wishes, left_alone
from hybridwrap.run.lookalike import refuse_double
from hybridwrap.run.needs import resolve
from hybridwrap.run.open_ends import close_open_ends
from hybridwrap.run.preparation import Prepared
from hybridwrap.run.recorded import recorded_run
from hybridwrap.run.saved_apply import Checked, Doing, Job, carry_out_saved
from hybridwrap.run.saved_plan import refuse_used_up, used_up
from hybridwrap.run.teardown_inputs import teardown_inputs
from hybridwrap.run.teardown_source import with_source
from hybridwrap.run.turn import wait_for_turn
from hybridwrap.run.walk import Way

READ_AT_ONCE = 16
GOES_WITHOUT_PLAN = frozenset({"planned", "retained", "unchanged", "kept"})  # of a teardown


def apply_saved(context: Context, saved: SavedRun, modules: Sequence[str]) -> RunEnd:
    """Apply modules of a saved run, whose options are those of the context.

    Raise ApprovalOutdated when nothing of it can be applied any more, LedgerUnreachable; nothing was changed then.
    """
    context, seals = _ready(context, saved, modules)
    doing = Doing(
        look=partial(_look, context),
        fit=partial(_fit, context),
        plan=partial(plan_to_apply, context),
        without_plan=partial(_without_plan, saved),
        ended=lambda _, end: end,
        not_started="pending",
        way=_way(context, saved, modules),
    )
    job = Job(context, saved, seals, doing)
    return recorded_run(context, "apply", modules, lambda: carry_out_saved(job, modules))


def destroy_saved(context: Context, saved: SavedRun, modules: Sequence[str]) -> RunEnd:
    """Destroy modules by the plans of a saved run, in the order of a teardown. Raise as `apply_saved` does."""
    context, seals = _ready(context, saved, modules)
    down = teardown(context, modules, Wishes(keep_protected=True))
    doing = Doing(
        look=partial(_look_down, down),
        fit=partial(adopted_on_the_way, context),
        plan=partial(planned, down),
        without_plan=partial(_down_without_plan, saved),
        ended=partial(with_all_that_it_owned, down),
        not_started="kept",
        way=way_of(down),
    )
    job = Job(context, saved, seals, doing)
    work = partial(carry_out_saved, job, down.modules)
    return recorded_run(context, "destroy", down.modules, work, doing.way.needs)


def _ready(context: Context, saved: SavedRun, modules: Sequence[str]) -> tuple[Context, Mapping[str, Seal]]:
    refuse_used_up(context, saved, modules)
    seals = _seals(context, saved, modules)
    stack = _with_caller_values(context.tools.stack, seals)
    return replace(context, tools=replace(context.tools, stack=stack)), seals


def _seals(context: Context, saved: SavedRun, modules: Sequence[str]) -> Mapping[str, Seal]:
    """Read what is sealed of plans that may still be applied. Raise ApprovalOutdated for one that was exchanged.

    What has been carried out already, by another process or an earlier call, is stored no more.
    """
    names = [name for name in modules if name in saved.plans]
    with ThreadPoolExecutor(READ_AT_ONCE) as pool:
        found = dict(zip(names, pool.map(partial(_seal_or_done, context, saved), names), strict=True))
    return {name: seal for name, seal in found.items() if seal}


def _seal_or_done(context: Context, saved: SavedRun, name: str) -> Seal | None:
    """None for a plan that has been carried out by now: it is stored no more."""
    try:
        return _seal(context, saved, name)
    except ApprovalOutdated:
        basis, record = saved.modules[name].basis, context.tools.ledger.record(name)
        if basis and used_up(context, record, basis):
            return None
        raise


def _seal(context: Context, saved: SavedRun, name: str) -> Seal | None:
    plan, runs = saved.modules[name], context.tools.ledger.saved
    if plan.basis is None:
        return None
    seal = shaped(loads(runs.get(saved.run, plan.basis.seal)), Seal, f"the plan of {name} in run {saved.run}")
    if not seal.fits(saved.run, name, plan):
        raise ApprovalOutdated(f"the plan of {name} in run {saved.run} is not the one that was saved", hint=PLAN_AGAIN)
    return seal


def _with_caller_values(stack: Stack, seals: Mapping[str, Seal]) -> Stack:
    """Give modules the values that were given with the command when they were planned."""
    again = {}
    for name, seal in seals.items():
        module, inputs = stack.modules[name], seal.inputs
        given = {variable: FromCaller(inputs.values[variable]) for variable in inputs.caller}
        again[name] = replace(module, inputs={**module.inputs, **given})
    return replace(stack, modules={**stack.modules, **again})


def _look(context: Context, name: str) -> tuple[Module, ResolvedInputs] | ModuleEnd:
    refuse_double(context, name)
    inputs = resolve(context, name)
    if isinstance(inputs, ModuleEnd):
        return inputs
    clear_doubts(context, name, inputs)
    return context.tools.stack.modules[name], inputs


def _fit(context: Context, prepared: Prepared) -> Prepared:
    refuse_to_make_again(prepared)
    return adopted_on_the_way(context, prepared)


def _way(context: Context, saved: SavedRun, modules: Sequence[str]) -> Way:
    """The way of the graph, as far as the saved run has something to do."""
    to_do = {name for name, plan in saved.modules.items() if plan.result != "unchanged"}
    declared = context.tools.stack.modules
    whole = {name: [need for need in declared[name].needs if need in to_do] for name in saved.modules}
    needs, not_reached = {name: whole[name] for name in modules}, partial(_not_reached, saved)
    return Way(needs, not_reached=not_reached, whole=whole, after=after_turn)


def _not_reached(saved: SavedRun, context: Context, name: str, blocked_by: tuple[str, ...]) -> ModuleEnd:
    """What is not covered says so, whatever it waits for."""
    plan = saved.modules[name]
    if blocked_by and plan.basis is None and plan.result != "unchanged":
        return _without_plan(saved, name)
    return waiting_end(context, name, blocked_by)


def _without_plan(saved: SavedRun, name: str) -> ModuleEnd:
    plan = saved.modules[name]
    match plan.result:
        case "unchanged":
            return ModuleEnd("unchanged", reason="had no changes when it was planned", skipped=True)
        case "deferred":
            return _not_covered(saved, plan.reason, exit_code=0)
    return _not_covered(saved, f"its plan ended with {plan.result}", exit_code=PreflightRefused.exit_code)


def _down_without_plan(saved: SavedRun, name: str) -> Checked:
    """What no engine had to plan is done as any teardown does it: nothing of it is destroyed by an engine."""
    result = saved.modules[name].result
    if result in GOES_WITHOUT_PLAN:
        return None
    return _not_covered(saved, f"its plan ended with {result}", exit_code=PreflightRefused.exit_code)


def _not_covered(saved: SavedRun, why: str, *, exit_code: int) -> ModuleEnd:
    reason = f"not covered by the approval of run {saved.run}: {why}"
    destroy = " --destroy" * saved.options.destroy
    return ModuleEnd("pending", exit_code, reason=reason, hint=f"hybridwrap plan{destroy} --save")


def _look_down(down: Teardown, name: str) -> tuple[Module, ResolvedInputs] | ModuleEnd:
    context = down.context
    record = wait_for_turn(context, name)
    if end := left_alone(down, name, record):
        return end
    module = with_source(context, name, record)
    inputs = teardown_inputs(context, module, record)
    close_open_ends(context, module, inputs, import_known=False)
    return module, inputs
