"""`hybridwrap plan`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import click
from msgspec.structs import replace

from hybridwrap.cli.hints import as_typed, place_of_call
from hybridwrap.cli.options import (
    Place,
    Telling,
    parallelism_option,
    plan_options,
    selection_options,
    stack_options,
    telling_options,
    timeout_option,
)
from hybridwrap.cli.plans import plan_text
from hybridwrap.cli.publishing import publish, publish_option
from hybridwrap.cli.reports.file import report_option, write_report
from hybridwrap.cli.running import Job, at_work, reading_job, watcher
from hybridwrap.cli.shared import shared_run
from hybridwrap.cli.teardown import reading_teardown_job
from hybridwrap.cli.teller import Teller
from hybridwrap.cli.variables import Variables
from hybridwrap.domain.charter import stamp
from hybridwrap.domain.engine_run import PlannedChange
from hybridwrap.domain.ports import PlanOptions
from hybridwrap.domain.run import RunEnd
from hybridwrap.errors import UsageError
from hybridwrap.run.context import Context, Options
from hybridwrap.run.plan import Show
from hybridwrap.run.plan import plan as make_plans
from hybridwrap.run.plan_report import report_of_plan
from hybridwrap.run.preflight import check_host
from hybridwrap.run.preparation import Prepared
from hybridwrap.run.selection import Selection
from hybridwrap.run.teardown_plan import plan_teardown

CHANGES = 2
COVERED = frozenset({"planned", "unchanged", "retained"})
NO_LOCK = "no state was locked (--read-only): what somebody else was changing meanwhile may be shown half-way"


@click.command("plan")
@stack_options
@selection_options
@plan_options
@parallelism_option
@timeout_option
@click.option(
    "-detailed-exitcode",
    "--detailed-exitcode",
    is_flag=True,
    help="Exit with 2 when a module has changes or is deferred.",
)
@click.option("-destroy", "--destroy", is_flag=True, help="Show what destroy would do, in its order.")
@click.option("--not-moved", is_flag=True, help="A new module is no other one under a new name.")
@click.option("--save", is_flag=True, help="Keep the plans, encrypted in the ledger, for `apply --run`.")
@click.option("--read-only", is_flag=True, help="Write nothing: not even the engine's lock on a state is taken.")
@report_option
@publish_option
@telling_options
def command(
    place: Place,
    selection: Selection,
    plan: PlanOptions,
    variables: Variables,
    parallelism: int,
    timeout_seconds: float,
    detailed_exitcode: bool,
    destroy: bool,
    not_moved: bool,
    save: bool,
    read_only: bool,
    report_file: Path | None,
    publish_to: tuple[str, ...],
    telling: Telling,
) -> int:
    """Show what apply would do.

    Nothing is recorded of any module. One that needs a value which is not there yet is deferred, never planned on a
    made-up one. Words after `--` go to the engine's plan.
    """
    job = _job(place, selection, variables, parallelism, plan if destroy else None)
    _must_be_possible(job, save=save, read_only=read_only)
    watch = watcher(job, telling)
    planned: dict[str, tuple[PlannedChange, ...]] = {}
    show = _shown_by(watch, planned, as_json=telling.as_json)
    wanted = replace(plan, destroy=destroy, lock=not read_only)
    options = Options(wanted, parallelism, timeout_seconds, not_moved=not_moved)
    make = _maker(save=save, destroy=destroy)
    with at_work(job, options, watch, shared_run("plan") if save else None) as context:
        began = stamp(context.tools.clock.now())
        end = make(context, job.modules, show)
    if detailed_exitcode and _changes(end):
        end = replace(end, exit_code=CHANGES)
    options = replace(options, saved=end.run if save else "")
    report = report_of_plan(replace(context, options=options), began, end, planned)
    if report_file:
        write_report(report, report_file)
    lines = [*([NO_LOCK] if read_only else []), *(_about_saved(end) if save else [])]
    _close(watch, end, job, lines, as_json=telling.as_json)
    publish(report, publish_to)
    return end.exit_code


def _must_be_possible(job: Job, *, save: bool, read_only: bool) -> None:
    """Raise UsageError, PreflightRefused; LedgerUnreachable when plans can't be stored."""
    if save and read_only:
        raise UsageError("--save writes the plans into the ledger: it does not go with --read-only")
    if save:
        job.workshop.ledger.saved.must_seal()
        job.workshop.ledger.open()


def _maker(*, save: bool, destroy: bool) -> Callable[[Context, Sequence[str], Show], RunEnd]:
    """What makes the plans, and keeps them where that is wanted."""
    make = plan_teardown if destroy else make_plans
    if not save:
        return make
    from hybridwrap.run.saving import save_plans

    return partial(save_plans, make=make)


def _shown_by(watch: Teller, planned: dict[str, tuple[PlannedChange, ...]], *, as_json: bool) -> Show:
    """Show each plan to people, and keep what it changes in `planned`."""

    def show(prepared: Prepared) -> None:
        planned[prepared.module.name] = prepared.actions
        if not as_json:
            text = plan_text(prepared)
            with watch.paused():
                click.echo(text)

    return show


def _changes(end: RunEnd) -> bool:
    """Whether all went well, and something would be changed, or can't be told yet."""
    results = {module_end.result for module_end in end.modules.values()}
    return end.exit_code == 0 and bool(results & {"planned", "deferred"})


def _about_saved(end: RunEnd) -> Iterator[str]:
    """Say what to type next, and what that will not cover."""
    uncovered = [name for name, module_end in end.modules.items() if module_end.result not in COVERED]
    if uncovered:
        yield f"not covered by an approval of this run: {', '.join(uncovered)}"
    if not any(module_end.result == "planned" for module_end in end.modules.values()):
        went_well = end.exit_code in (0, CHANGES)
        yield f"saved as run {end.run}, {'with nothing to apply' if went_well else 'without any plan'}"
        return
    yield f"saved as run {end.run}"
    if end.exit_code in (0, CHANGES):
        yield f"next: {as_typed(f'hybridwrap apply --run {end.run}', place_of_call())}"


def _close(watch: Teller, end: RunEnd, job: Job, lines: Sequence[str], *, as_json: bool) -> None:
    """Say the last words; programs get the result last."""
    for line in lines if as_json else ():
        watch.note(line)
    watch.run_ended(end, job.knowledge.outputs)
    for line in () if as_json else lines:
        click.echo(line)


def _job(
    place: Place, selection: Selection, variables: Variables, parallelism: int, teardown: PlanOptions | None
) -> Job:
    """What the plans are made of; `teardown` are the options for plans to destroy."""
    if teardown is None:
        job = reading_job(place, selection, variables, parallelism=parallelism)
        check_host(job.workshop.tools, job.modules)
        return job
    if teardown.targets or teardown.replace or teardown.refresh_only:
        raise UsageError("--destroy goes with whole modules: leave out -target, -replace and -refresh-only")
    return reading_teardown_job(place, selection, variables, parallelism=parallelism)
