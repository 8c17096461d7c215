"""`hybridwrap apply`."""

from __future__ import annotations

import click
from msgspec.structs import replace

from hybridwrap.cli.approval import approval, undisturbed
from hybridwrap.cli.compose import equip, load
from hybridwrap.cli.options import (
    Place,
    Telling,
    parallelism_option,
    plan_options,
    run_option,
    selection_options,
    skip_option,
    stack_options,
    telling_options,
    timeout_option,
    wait_options,
)
from hybridwrap.cli.running import Job, at_work, job_in, watcher
from hybridwrap.cli.shared import Sharing, selection_of, shared_run, sharing_options
from hybridwrap.cli.variables import Variables
from hybridwrap.domain.ports import PlanOptions
from hybridwrap.errors import UsageError
from hybridwrap.run.apply import apply
from hybridwrap.run.context import Options, Patience, Skip
from hybridwrap.run.preflight import check_engines, check_hooks, check_host
from hybridwrap.run.recorded import RUNS_LOOKED_AT
from hybridwrap.run.selection import Selection


@click.command("apply")
@stack_options
@selection_options
@plan_options
@parallelism_option
@timeout_option
@wait_options
@skip_option
@run_option
@click.option("-auto-approve", "--auto-approve", is_flag=True, help="Apply each plan as soon as it is made.")
@click.option(
    "--yes-destroy", type=click.IntRange(min=0), metavar="N", help="One plan may destroy N objects, over its guard."
)
@click.option("--fail-fast", is_flag=True, help="Start nothing more after the first module that fails.")
@click.option("--state-moved", is_flag=True, help="The states lie in another place than recorded, on purpose.")
@click.option("--not-moved", is_flag=True, help="A new module is no other one under a new name.")
@sharing_options
@telling_options
def command(
    place: Place,
    selection: Selection,
    plan: PlanOptions,
    variables: Variables,
    parallelism: int,
    timeout_seconds: float,
    patience: Patience,
    max_age_seconds: float | None,
    saved_run: str | None,
    auto_approve: bool,
    yes_destroy: int | None,
    fail_fast: bool,
    state_moved: bool,
    not_moved: bool,
    sharing: Sharing,
    telling: Telling,
) -> int:
    """Plan and apply modules in the order of their graph.

    Without names: the whole stack, or the modules in or below the current folder. Words after `--` go to the engine's
    plan. With --run: exactly the plans of a saved run, as long as nothing that they rest on has moved.
    """
    options = Options(
        plan,
        parallelism,
        timeout_seconds,
        fail_fast=fail_fast,
        patience=patience,
        state_moved=state_moved,
        not_moved=not_moved,
        yes_destroy=yes_destroy,
    )
    if saved_run:
        from hybridwrap.cli.saved import carry_out_run, refuse_own_plans

        own = {"options for the plan": plan != PlanOptions() or variables != Variables()}
        refuse_own_plans(saved_run, **own, **{"--skip-unchanged": max_age_seconds is not None})
        shared = shared_run("apply", sharing)
        return carry_out_run(place, saved_run, selection, options, telling, shared)
    approve = approval(auto_approve=auto_approve, as_json=telling.as_json, yes_destroy=yes_destroy)
    shared = shared_run("apply", sharing, asks=approve is not None)
    workshop = equip(load(place, given=variables.names), parallelism=parallelism)
    job = job_in(workshop, selection_of(shared, workshop.ledger, selection), variables, parallelism)
    check_host(job.workshop.tools, job.modules)
    check_hooks(job.workshop.tools, job.modules)
    check_engines(job.workshop.tools, job.modules)
    options = replace(options, skip=_skip(job, plan, max_age_seconds))
    watch = watcher(job, telling)
    with at_work(job, options, watch, shared) as context:
        end = apply(context, job.modules, undisturbed(approve, watch, context.stop))
    watch.run_ended(end, job.knowledge.outputs)
    return end.exit_code


def _skip(job: Job, plan: PlanOptions, max_age_seconds: float | None) -> Skip | None:
    if max_age_seconds is None:
        return None
    if plan.replace or not plan.whole:
        raise UsageError("--skip-unchanged leaves out plans: it does not go with options for the plan")
    return Skip(job.workshop.ledger.runs(RUNS_LOOKED_AT), max_age_seconds)
