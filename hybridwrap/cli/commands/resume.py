"""`hybridwrap resume`."""

from __future__ import annotations

from collections.abc import Mapping

import click
from msgspec.structs import replace

from hybridwrap.cli.approval import approval, undisturbed
from hybridwrap.cli.options import (
    Place,
    Telling,
    parallelism_option,
    stack_options,
    telling_options,
    timeout_option,
    variable_options,
    wait_options,
)
from hybridwrap.cli.running import Job, at_work, watcher, writing_job
from hybridwrap.cli.variables import Variables
from hybridwrap.domain.inputs_again import with_inputs_of_run
from hybridwrap.domain.run import Run
from hybridwrap.run.context import Options, Patience, Skip
from hybridwrap.run.known_secrets import KnownSecrets
from hybridwrap.run.preflight import check_engines, check_hooks, check_host
from hybridwrap.run.recorded import RUNS_LOOKED_AT, end_of_run
from hybridwrap.run.resume import (
    Rest,
    changed_secrets,
    differences,
    inputs_of_run,
    named_run,
    newest_unfinished,
    rest_of,
    resume,
)
from hybridwrap.run.selection import Selection

LOOKED_BACK = 200  # runs: plans that are saved for pull requests may come between


@click.command("resume")
@stack_options
@click.argument("run", required=False)
@click.option(
    "--inputs",
    type=click.Choice(["recorded", "current"]),
    default="recorded",
    show_default=True,
    help="Those of the run, or as the manifest has them now.",
)
@variable_options
@parallelism_option
@timeout_option
@wait_options
@click.option("-auto-approve", "--auto-approve", is_flag=True, help="Apply each plan as soon as it is made.")
@click.option("--fail-fast", is_flag=True, help="Start nothing more after the first module that fails.")
@telling_options
def command(
    place: Place,
    run: str | None,
    inputs: str,
    variables: Variables,
    parallelism: int,
    timeout_seconds: float,
    patience: Patience,
    auto_approve: bool,
    fail_fast: bool,
    telling: Telling,
) -> int:
    """Go on with a run that failed, was interrupted or killed.

    On any machine. RUN is an id or its beginning; without it, the newest apply or resume that left something. What it
    left is planned again, in order, with the inputs that it had. Its other modules are left alone, unless something
    that they are made from has changed: that is said, and they are planned, too. Each module is planned whole: -target,
    -replace and -refresh of the run are not repeated.
    """
    approve = approval("resume", auto_approve=auto_approve, as_json=telling.as_json)
    job = writing_job(place, Selection(), variables, parallelism=parallelism)
    runs = job.workshop.ledger.runs(RUNS_LOOKED_AT)
    rest = _rest(job, run, runs)
    differing: Mapping[str, str] = {}
    if rest:
        job, differing = _with_inputs(job, rest, inputs)
        check_host(job.workshop.tools, job.modules)
        check_hooks(job.workshop.tools, job.modules)
        check_engines(job.workshop.tools, job.modules)
    options = Options(
        parallelism=parallelism,
        timeout_seconds=timeout_seconds,
        fail_fast=fail_fast,
        patience=patience,
        skip=Skip(runs, never=frozenset(rest.left if rest else ())),
    )
    watch = watcher(job, telling)
    with at_work(job, options, watch) as context:
        if rest:
            end = resume(context, rest, differing, undisturbed(approve, watch, context.stop))
        else:
            end = end_of_run(context, {})
            watch.note(f"run {run} left nothing to do" if run else "no run left anything to do")
    watch.run_ended(end, job.knowledge.outputs)
    return end.exit_code


def _rest(job: Job, run: str | None, runs: tuple[Run, ...]) -> Rest | None:
    stack, ledger, records = job.workshop.stack, job.workshop.ledger, job.knowledge.records
    if run is None:
        return newest_unfinished(runs, records, stack) or newest_unfinished(ledger.runs(LOOKED_BACK), records, stack)
    rest = rest_of(named_run(ledger, run), records, stack)
    return rest if rest.left else None


def _with_inputs(job: Job, rest: Rest, inputs: str) -> tuple[Job, Mapping[str, str]]:
    """Give the modules the inputs that were asked for, and say what that means where it makes a difference."""
    tools, run = job.workshop.tools, rest.run_id
    current = inputs == "current"
    recorded = {} if current and not rest.run.start.inputs else inputs_of_run(tools, rest)
    known = KnownSecrets(tools, job.knowledge, rest.run.start.modules)
    if current:
        stack, which = tools.stack, f"inputs of the manifest, not those of run {run}"
    else:
        stack = with_inputs_of_run(tools.stack, recorded, run, tools.host, known.mask)
        which = f"inputs of run {run}, not those of the manifest (--inputs current)"
    given = replace(tools, stack=stack)
    told = {name: [f"{which}: {text}"] for name, text in differences(tools, recorded, known).items()}
    for name, text in changed_secrets(given, recorded).items():
        told.setdefault(name, []).append(f"secrets of now, not those of run {run}: {text}")
    workshop = replace(job.workshop, tools=given)
    return replace(job, workshop=workshop, modules=rest.modules(stack)), {n: "; ".join(t) for n, t in told.items()}
