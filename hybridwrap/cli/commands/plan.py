"""`hybridwrap plan`."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec.structs import replace

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
from hybridwrap.cli.teardown import reading_teardown_job
from hybridwrap.cli.variables import Variables
from hybridwrap.domain.charter import stamp
from hybridwrap.domain.engine_run import PlannedChange
from hybridwrap.domain.ports import PlanOptions
from hybridwrap.errors import UsageError
from hybridwrap.run.context import Options
from hybridwrap.run.plan import plan as make_plans
from hybridwrap.run.plan_report import report_of_plan
from hybridwrap.run.preflight import check_host
from hybridwrap.run.preparation import Prepared
from hybridwrap.run.selection import Selection
from hybridwrap.run.teardown_plan import plan_teardown

CHANGES = 2


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
    report_file: Path | None,
    publish_to: tuple[str, ...],
    telling: Telling,
) -> int:
    """Show what apply would do.

    Nothing is recorded. A module that needs a value which is not there yet is deferred, never planned on a made-up
    one. Words after `--` go to the engine's plan.
    """
    job = _job(place, selection, variables, parallelism, plan if destroy else None)
    watch = watcher(job, telling)
    planned: dict[str, tuple[PlannedChange, ...]] = {}

    def show(prepared: Prepared) -> None:
        planned[prepared.module.name] = prepared.actions
        if not telling.as_json:
            text = plan_text(prepared)
            with watch.paused():
                click.echo(text)

    options = Options(replace(plan, destroy=destroy), parallelism, timeout_seconds, not_moved=not_moved)
    with at_work(job, options, watch) as context:
        began = stamp(context.tools.clock.now())
        end = (plan_teardown if destroy else make_plans)(context, job.modules, show)
    changes = any(module_end.result in ("planned", "deferred") for module_end in end.modules.values())
    if detailed_exitcode and changes and end.exit_code == 0:
        end = replace(end, exit_code=CHANGES)
    report = report_of_plan(context, began, end, planned)
    if report_file:
        write_report(report, report_file)
    watch.run_ended(end, job.knowledge.outputs)
    publish(report, publish_to)
    return end.exit_code


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
