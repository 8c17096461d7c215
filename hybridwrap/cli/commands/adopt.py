"""`hybridwrap adopt`."""

from __future__ import annotations

import click

from hybridwrap.cli.options import Place, Telling, stack_options, telling_options, wait_options
from hybridwrap.cli.running import at_work, watcher, writing_job
from hybridwrap.cli.variables import Variables
from hybridwrap.errors import UsageError
from hybridwrap.run.adopt import adopt
from hybridwrap.run.context import Options, Patience
from hybridwrap.run.selection import Selection


@click.command("adopt")
@stack_options
@click.argument("modules", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All modules of the stack.")
@click.option("--reason", default="adopted", help="Why; kept in the ledger.")
@click.option(
    "--parallelism", type=click.IntRange(min=1), default=1, show_default=True, help="Modules looked at at a time."
)
@wait_options
@telling_options
def command(
    place: Place,
    modules: tuple[str, ...],
    everything: bool,
    reason: str,
    parallelism: int,
    patience: Patience,
    telling: Telling,
) -> int:
    """Take a state that exists into the ledger.

    Status, outputs and object ids come from the state as it is; the engine changes nothing. One module after the other,
    in the order of the graph; one that can't be adopted is named, and keeps no other one from it. With --all a module
    without a state is no error: there is nothing to adopt.
    """
    if bool(modules) == everything:
        raise UsageError("name modules, or say --all")
    job = writing_job(place, Selection(modules), Variables(), parallelism=parallelism)
    watch = watcher(job, telling)
    with at_work(job, Options(parallelism=parallelism, patience=patience), watch) as context:
        end = adopt(context, job.modules, reason, must_have_state=modules)
    watch.run_ended(end, job.knowledge.outputs)
    return end.exit_code
