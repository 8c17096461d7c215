"""`hybridwrap init`."""

from __future__ import annotations

import click

from hybridwrap.adapters.manifest.remote import Fetching
from hybridwrap.cli.compose import equip, load
from hybridwrap.cli.options import (
    Place,
    Telling,
    parallelism_option,
    selection_options,
    stack_options,
    telling_options,
)
from hybridwrap.cli.running import Job, at_work, selected, watcher
from hybridwrap.run.context import Options
from hybridwrap.run.initialise import initialise
from hybridwrap.run.knowledge import Knowledge
from hybridwrap.run.selection import Selection


@click.command("init")
@stack_options
@selection_options
@click.option(
    "-upgrade", "--upgrade", is_flag=True, help="As the engine's -upgrade; remote sources are fetched again, too."
)
@parallelism_option
@telling_options
def command(place: Place, selection: Selection, upgrade: bool, parallelism: int, telling: Telling) -> int:
    """Initialise the engine in each module.

    Only where something that init depends on has changed. `plan` and `apply` do it by themselves; this is for caches
    and for looking before anything is planned. The ledger is not asked.
    """
    stack = load(place, Fetching.AGAIN if upgrade else Fetching.MISSING)
    workshop = equip(stack, parallelism=parallelism)
    job = Job(workshop, selected(workshop, selection), Knowledge({}), parallelism)
    watch = watcher(job, telling)
    with at_work(job, Options(parallelism=parallelism), watch) as context:
        end = initialise(context, job.modules, upgrade=upgrade)
    watch.run_ended(end, job.knowledge.outputs)
    return end.exit_code
