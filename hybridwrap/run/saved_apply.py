"""Carry out a saved run: exactly its plans, or new ones that do nothing more.

Keeps: before the first module is begun, all of them are known to be covered by the approval. Where one is not, nothing
is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from msgspec import Struct

from hybridwrap.domain.inputs import ResolvedInputs
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.saved import SavedRun, Seal
from hybridwrap.domain.stack import Module
from hybridwrap.errors import ApprovalOutdated
from hybridwrap.run.context import Context
from hybridwrap.run.ends import guarded, tell
from hybridwrap.run.limits import within_guard
from hybridwrap.run.overtaken import carry_out_approved, within_approval
from hybridwrap.run.preparation import Prepared
from hybridwrap.run.saved_plan import prepared_by, used_up
from hybridwrap.run.turn import wait_for_turn
from hybridwrap.run.walk import Way, walk

Checked = Prepared | ModuleEnd | None  # None: nothing of it was planned by an engine, it is decided at its turn


class Doing(Struct, frozen=True):
    """What an apply and a destroy of saved plans do differently."""

    look: Callable[[str], tuple[Module, ResolvedInputs] | ModuleEnd]  # a module and its inputs as they are now
    fit: Callable[[Prepared], Prepared]  # raises where a plan may not be carried out; adopts what is in no ledger
    plan: Callable[[str], Prepared | ModuleEnd]
    without_plan: Callable[[str], Checked]
    ended: Callable[[str, ModuleEnd], ModuleEnd]
    not_started: str  # the result of what was not begun
    way: Way


class Job(Struct, frozen=True):
    context: Context
    saved: SavedRun
    seals: Mapping[str, Seal]
    doing: Doing


def carry_out_saved(job: Job, modules: Sequence[str]) -> Mapping[str, ModuleEnd]:
    """Check all modules, then begin; nothing is begun when one goes beyond the approval.

    Where other processes are at work on the same run, each module is checked at its turn.
    """
    if job.context.part:
        return walk(job.context, modules, lambda name: _turn(job, name, {name: _check(job, name)}), job.doing.way)
    checked = _checked(job, modules)
    try:
        if outdated := [name for name, end in checked.items() if _is_outdated(end)]:
            return _nothing_started(job, checked, outdated)
        return walk(job.context, modules, lambda name: _turn(job, name, checked), job.doing.way)
    finally:
        for left in checked.values():
            if isinstance(left, Prepared):
                left.folder.remove()


def _checked(job: Job, modules: Sequence[str]) -> dict[str, Checked]:
    with ThreadPoolExecutor(job.context.options.parallelism) as pool:
        return dict(zip(modules, pool.map(partial(guarded, work=partial(_check, job)), modules), strict=True))


def _check(job: Job, name: str) -> Checked:
    context, plan = job.context, job.saved.modules[name]
    if context.stop.wanted:
        return None
    if plan.basis is None:
        return job.doing.without_plan(name)
    if end := used_up(context, wait_for_turn(context, name), plan.basis):
        return end
    found = job.doing.look(name)
    if isinstance(found, ModuleEnd):
        return found
    made = prepared_by(context, *found, plan.basis, job.seals[name].inputs)
    if isinstance(made, Prepared):
        return within_guard(context, made)
    context.watch.warning(name, f"planned again: {'; '.join(made)}")
    return within_guard(context, within_approval(context, name, plan.planned, job.doing.plan(name)))


def _is_outdated(end: Checked) -> bool:
    return isinstance(end, ModuleEnd) and end.exit_code == ApprovalOutdated.exit_code


def _nothing_started(job: Job, checked: Mapping[str, Checked], outdated: Sequence[str]) -> Mapping[str, ModuleEnd]:
    reason = f"nothing was started: the approval does not cover {', '.join(outdated)}"
    kept = ModuleEnd(job.doing.not_started, reason=reason)
    ends = {name: end if _is_outdated(end) and isinstance(end, ModuleEnd) else kept for name, end in checked.items()}
    for name, end in ends.items():
        tell(job.context, name, end)
    return ends


def _turn(job: Job, name: str, checked: dict[str, Checked]) -> ModuleEnd:
    context, plan, first = job.context, job.saved.modules[name], checked.pop(name)
    if isinstance(first, ModuleEnd):
        return first
    if first:
        first = _unless_moved(job, first)
    if isinstance(first, Prepared):
        first = job.doing.fit(first)

    def again() -> Prepared | ModuleEnd:
        return within_guard(context, job.doing.plan(name))

    end = carry_out_approved(context, name, plan.planned, again, first)
    if plan.basis and end.operation:
        context.tools.ledger.saved.forget(job.saved.run, plan.basis.plan, plan.basis.seal)
    return job.doing.ended(name, end)


def _unless_moved(job: Job, first: Prepared) -> Prepared | None:
    """Give a plan up when what came before it in this run has changed what goes into it."""
    name = first.module.name
    found = job.doing.look(name)
    if not isinstance(found, ModuleEnd) and dict(found[1].upstream) == dict(first.inputs.upstream):
        return first
    first.folder.remove()
    job.context.watch.warning(name, "planned again: outputs that it uses have just changed")
    return None
