"""`hybridwrap destroy`."""

from __future__ import annotations

import click

from hybridwrap.cli.approval import approval, undisturbed
from hybridwrap.cli.options import (
    Place,
    Telling,
    parallelism_option,
    run_option,
    selection_options,
    stack_options,
    telling_options,
    timeout_option,
    wait_options,
)
from hybridwrap.cli.running import at_work, watcher
from hybridwrap.cli.shared import Sharing, shared_run, sharing_options
from hybridwrap.cli.survivors import end_with_survivors
from hybridwrap.cli.teardown import teardown_job, teardown_plan_options
from hybridwrap.cli.variables import Variables
from hybridwrap.domain.ports import PlanOptions
from hybridwrap.run.context import Options, Patience
from hybridwrap.run.destroy import destroy
from hybridwrap.run.left_alone import Wishes
from hybridwrap.run.preflight import check_hooks
from hybridwrap.run.selection import Selection


@click.command("destroy")
@stack_options
@selection_options
@teardown_plan_options
@parallelism_option
@timeout_option
@wait_options
@click.option("--orphan", "orphans", multiple=True, metavar="NAME", help="A module that the manifest has no more.")
@run_option
@click.option("-auto-approve", "--auto-approve", is_flag=True, help="Destroy by each plan as soon as it is made.")
@click.option(
    "--yes-destroy", type=click.IntRange(min=0), metavar="N", help="One plan may destroy N objects, over its guard."
)
@click.option("--keep-protected", is_flag=True, help="Go on with all that protected modules do not need.")
@click.option("--import-known", is_flag=True, help="First import what is known to have been made and is in no state.")
@click.option(
    "--inputs",
    type=click.Choice(["recorded", "current"]),
    default="recorded",
    show_default=True,
    help="Those of the last apply, or as the manifest has them now.",
)
@click.option("--fail-fast", is_flag=True, help="Start nothing more after the first module that fails.")
@click.option("--state-moved", is_flag=True, help="The states lie in another place than recorded, on purpose.")
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
    orphans: tuple[str, ...],
    saved_run: str | None,
    auto_approve: bool,
    yes_destroy: int | None,
    keep_protected: bool,
    import_known: bool,
    inputs: str,
    fail_fast: bool,
    state_moved: bool,
    sharing: Sharing,
    telling: Telling,
) -> int:
    """Destroy modules, dependants first, and see that they are gone.

    Without names: the whole stack, or the modules in or below the current folder. A module counts as destroyed once it
    is seen that nothing of it is left; one that has an `owner` goes with that, unless it is named. Words after `--` go
    to the engine's plan.
    """
    as_json = telling.as_json
    options = Options(
        plan,
        parallelism,
        timeout_seconds,
        fail_fast=fail_fast,
        patience=patience,
        state_moved=state_moved,
        yes_destroy=yes_destroy,
    )
    if saved_run:
        from hybridwrap.cli.saved import carry_out_run, refuse_own_plans

        own = {"options for the plan": plan != PlanOptions(destroy=True) or variables != Variables()}
        more = {"--orphan": orphans, "--keep-protected": keep_protected, "--import-known": import_known}
        refuse_own_plans(saved_run, **own, **more, **{"--inputs": inputs != "recorded"})
        shared = shared_run("destroy", sharing)
        return carry_out_run(place, saved_run, selection, options, telling, shared, only_destroy=True)
    approve = approval("destroy", auto_approve=auto_approve, as_json=as_json, yes_destroy=yes_destroy)
    shared = shared_run("destroy", sharing, asks=approve is not None)
    job = teardown_job(place, selection, orphans, variables, parallelism=parallelism, shared=shared)
    check_hooks(job.workshop.tools, job.modules)
    wishes = Wishes(frozenset((*selection.names, *orphans)), keep_protected, import_known, inputs == "current")
    watch = watcher(job, telling)
    with at_work(job, options, watch, shared) as context:
        end = destroy(context, job.modules, undisturbed(approve, watch, context.stop), wishes)
    end_with_survivors(watch, end, job.knowledge.records, as_json=as_json)
    return end.exit_code
