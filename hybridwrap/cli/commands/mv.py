"""`hybridwrap mv`."""

from __future__ import annotations

import click

from hybridwrap.cli.options import Place, Telling, stack_options, telling_options, wait_options
from hybridwrap.cli.running import at_work, watcher, writing_job
from hybridwrap.cli.variables import Variables
from hybridwrap.run.context import Options, Patience
from hybridwrap.run.recorded import end_of_run
from hybridwrap.run.rename import prepare_rename, rename
from hybridwrap.run.selection import Selection


@click.command("mv")
@stack_options
@click.argument("old")
@click.argument("new")
@click.option("--reason", default="renamed", show_default=True, help="Why; kept in the ledger.")
@wait_options
@telling_options
def command(place: Place, old: str, new: str, reason: str, patience: Patience, telling: Telling) -> int:
    """Give a module of the ledger the name that it has in the manifest now.

    Status, outputs, inputs and objects go with it. Its state stays where it is: the manifest has to put the state of
    the new name there, and what to write is said. The engine changes nothing. A rename that was cut short is finished
    by the same command.
    """
    job = writing_job(place, Selection((new,), families=False), Variables(), parallelism=1)
    watch = watcher(job, telling)
    with at_work(job, Options(parallelism=1, patience=patience), watch) as context:
        todo = prepare_rename(context, old, new, reason)
        if todo:
            end = rename(context, todo, reason)
        else:
            end = end_of_run(context, {})
            watch.note(f"{old} was renamed to {new} before")
    watch.run_ended(end, job.knowledge.outputs)
    return end.exit_code
