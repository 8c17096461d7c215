"""`hybridwrap init`."""

from __future__ import annotations

import click

from hybridwrap.cli.options import (
    Place,
    Telling,
    parallelism_option,
    selection_options,
    stack_options,
    telling_options,
)
from hybridwrap.cli.running import at_work, reading_job, watcher
from hybridwrap.cli.variables import Variables
from hybridwrap.run.context import Options
from hybridwrap.run.initialise import initialise
from hybridwrap.run.selection import Selection


@click.command("init")
@stack_options
@selection_options
@parallelism_option
@telling_options
def command(place: Place, selection: Selection, parallelism: int, telling: Telling) -> int:
    """Initialise the engine in each module.

    Only where something that init depends on has changed. `plan` and `apply` do it by themselves; this is for caches
    and for looking before anything is planned.
    """
    job = reading_job(place, selection, Variables((), ()), parallelism=parallelism)
    watch = watcher(job, telling)
    with at_work(job, Options(parallelism=parallelism), watch) as context:
        end = initialise(context, job.modules)
    watch.run_ended(end, job.knowledge.outputs)
    return end.exit_code
