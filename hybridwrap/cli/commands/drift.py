"""`hybridwrap drift`."""

from __future__ import annotations

from functools import partial

import click
from msgspec.structs import replace

from hybridwrap.cli.drift_view import look_json, look_text
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.json_lines import JsonLines
from hybridwrap.cli.options import (
    Place,
    Telling,
    parallelism_option,
    selection_options,
    stack_options,
    telling_options,
    timeout_option,
    wait_option,
)
from hybridwrap.cli.running import at_work, reading_job, watcher
from hybridwrap.cli.shared import shared_run
from hybridwrap.cli.teller import Teller
from hybridwrap.cli.variables import Variables
from hybridwrap.cli.wrapping import say
from hybridwrap.domain.drift import DriftResult
from hybridwrap.run.context import Options, Patience
from hybridwrap.run.drift import ONLY_LOOK, Look, drift, drift_unrecorded
from hybridwrap.run.selection import Selection

FOUND = 2


@click.command("drift")
@stack_options
@selection_options
@parallelism_option
@timeout_option
@wait_option
@click.option(
    "-detailed-exitcode", "--detailed-exitcode", is_flag=True, help="Exit with 2 when there is drift nobody accepted."
)
@click.option("--read-only", is_flag=True, help="Write nothing into the ledger.")
@telling_options
def command(
    place: Place,
    selection: Selection,
    parallelism: int,
    timeout_seconds: float,
    patience: Patience,
    detailed_exitcode: bool,
    read_only: bool,
    telling: Telling,
) -> int:
    """Look whether real objects are as the engine's states say.

    A refresh-only plan of each module; nothing but the ledger is changed. What differs is recorded with the time when
    it was first seen. `drift accept` keeps a difference from being counted until a day.
    """
    job = reading_job(place, selection, Variables(), parallelism=parallelism)
    recorded = not read_only and job.workshop.ledger.exists()
    if recorded:
        job.workshop.ledger.open()
    watch = watcher(job, telling)
    looks: dict[str, Look] = {}
    tell = partial(_tell, watch, looks)
    shared = shared_run("drift") if recorded else None
    options = Options(ONLY_LOOK, parallelism, timeout_seconds, patience=patience)
    with at_work(job, options, watch, shared) as context:
        end = (drift if recorded else drift_unrecorded)(context, job.modules, tell)
    found = [name for name in job.modules if name in looks and looks[name].result is DriftResult.NEW]
    if detailed_exitcode and found and end.exit_code == 0:
        end = replace(end, exit_code=FOUND)
    if not telling.as_json and telling.verbosity >= 0:
        for name in (name for name in job.modules if name in looks and looks[name].deviations):
            say(f"\n{look_text(looks[name])}")
        click.echo()
    watch.run_ended(end, job.knowledge.outputs)
    if found and not telling.as_json:
        plan = as_typed(f"hybridwrap plan {found[0]}", place)
        accept = as_typed("hybridwrap drift accept ADDRESS[.ATTRIBUTE] --until DATE --reason TEXT", place)
        say(f"next: {plan}    what it takes to have it again as the code says\n      {accept}")
    return end.exit_code


def _tell(watch: Teller, looks: dict[str, Look], look: Look) -> None:
    """Tell programs at once, and people at the end, in the order of the modules."""
    looks[look.module] = look
    if isinstance(watch, JsonLines):
        watch.fact("drift", look_json(look))
