"""`apply --run` and `destroy --run`: what has been planned and saved is carried out, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from hybridwrap.cli.compose import equip, look_at
from hybridwrap.cli.options import Place, Telling
from hybridwrap.cli.running import Job, at_work, watcher, writing_job
from hybridwrap.cli.shared import SharedRun, among, selection_of
from hybridwrap.cli.survivors import end_with_survivors
from hybridwrap.cli.teardown import teardown_job
from hybridwrap.cli.variables import Variables
from hybridwrap.counting import count_of, first_of
from hybridwrap.domain.graph import order
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.saved import SavedRun
from hybridwrap.errors import ApprovalOutdated, UsageError
from hybridwrap.run.context import Options
from hybridwrap.run.preflight import check_hooks, check_host
from hybridwrap.run.saved_run import apply_saved, destroy_saved
from hybridwrap.run.selection import Selection

NAMED = 6  # modules that a line names


def refuse_own_plans(run: str, **said: Any) -> None:
    """Raise UsageError for options that a saved plan has its own of."""
    if names := [name for name, value in said.items() if value]:
        raise UsageError(f"the plans of run {run} were made already: leave out {', '.join(names)}")


def carry_out_run(
    place: Place,
    run: str,
    selection: Selection,
    options: Options,
    telling: Telling,
    shared: SharedRun | None,
    *,
    only_destroy: bool = False,
) -> int:
    """Carry out a saved run, or some of its modules. Raise UsageError, ApprovalOutdated."""
    ledger = equip(look_at(place)).ledger
    saved = read_saved(ledger, run)
    if only_destroy and not saved.options.destroy:
        raise UsageError(f"run {saved.run} is no plan to destroy", hint=f"hybridwrap apply --run {saved.run}")
    shared = shared and among(
        replace(shared, command="destroy" if saved.options.destroy else "apply"), tuple(saved.modules)
    )
    job = _job(place, saved, selection_of(shared, ledger, selection), options, alone=shared is None)
    options = replace(options, plan=saved.options, saved=saved.run)
    watch = watcher(job, telling)
    with at_work(job, options, watch, shared) as context:
        if not saved.plans and not saved.options.destroy:
            unchanged = all(module.result == "unchanged" for module in saved.modules.values())
            watch.note(f"run {saved.run} {'had no changes' if unchanged else 'has no plan'}: {_counted(saved)}")
        end = (destroy_saved if saved.options.destroy else apply_saved)(context, saved, job.modules)
    if saved.options.destroy:
        end_with_survivors(watch, end, job.knowledge.records, as_json=telling.as_json)
    else:
        watch.run_ended(end, job.knowledge.outputs)
    return end.exit_code


def read_saved(ledger: Ledger, run: str) -> SavedRun:
    """Find a saved run by its id or the beginning of it, or by the name under which many processes planned it.

    Raise UsageError, ApprovalOutdated.
    """
    start = ledger.run(ledger.shared_runs.known("plan", run) or run).start
    if start.command != "plan":
        raise UsageError(
            f"run {start.run} is one of `{start.command}`: only what `plan --save` kept can be carried out",
            hint="hybridwrap plan --save",
        )
    return ledger.saved.read(start.run)


def _job(place: Place, saved: SavedRun, selection: Selection, options: Options, *, alone: bool) -> Job:
    """Get ready to change things."""
    chosen = replace(selection, folder=None)  # what was approved does not depend on where the command is called
    make: Callable[..., Job] = teardown_job if saved.options.destroy else writing_job
    more = {"orphans": ()} if saved.options.destroy else {}
    job = make(place, chosen, variables=Variables(), parallelism=options.parallelism, **more)
    modules = _planned_ones(saved, selection, job, alone=alone)
    if not saved.options.destroy:
        check_host(job.workshop.tools, [name for name in modules if name in saved.plans])
    check_hooks(job.workshop.tools, modules)
    return replace(job, modules=modules)


def _planned_ones(saved: SavedRun, selection: Selection, job: Job, *, alone: bool) -> tuple[str, ...]:
    """The selected modules of a saved run, of which there has to be one.

    Not so where many processes share the run: a job for a module that was not planned has its place among them.
    """
    declared = job.workshop.stack.modules
    wanted = saved.modules if _is_everything(selection) else job.modules
    if gone := [name for name in wanted if name not in declared]:
        raise ApprovalOutdated(f"run {saved.run} has planned {first_of(gone, NAMED)}, not in the manifest here")
    if missing := [name for name in job.modules if selection.names and name not in saved.modules]:
        raise UsageError(
            f"run {saved.run} has not planned {first_of(missing, NAMED)}", hint=f"hybridwrap show {saved.run}"
        )
    modules = [name for name in wanted if name in saved.modules]
    if (alone or not selection.names) and not _has_work(saved, modules):
        raise UsageError(
            f"nothing of run {saved.run} is selected: it has plans for {first_of(saved.plans, NAMED)}",
            hint=f"hybridwrap show {saved.run}",
        )
    return tuple(n for n in order({name: module.needs for name, module in declared.items()}) if n in modules)


def _has_work(saved: SavedRun, modules: Sequence[str]) -> bool:
    """Whether something is selected; of a run that had plans, one that has a plan."""
    return any(name in saved.plans for name in modules) if saved.plans else bool(modules) or not saved.modules


def _is_everything(selection: Selection) -> bool:
    return replace(selection, folder=None) == Selection()


def _counted(saved: SavedRun) -> str:
    return count_of(len(saved.modules), "module")
