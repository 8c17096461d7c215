"""`hybridwrap retain`."""

from __future__ import annotations

import click

from hybridwrap.cli.options import Place, Telling, stack_options, telling_options, wait_options
from hybridwrap.cli.running import at_work, watcher
from hybridwrap.cli.teardown import teardown_job
from hybridwrap.cli.variables import Variables
from hybridwrap.run.context import Options, Patience
from hybridwrap.run.retain import retain
from hybridwrap.run.selection import Selection


@click.command("retain")
@stack_options
@click.argument("modules", nargs=-1)
@click.option("--orphan", "orphans", multiple=True, metavar="NAME", help="A module that the manifest has no more.")
@click.option("--reason", required=True, help="Why; kept in the ledger.")
@wait_options
@telling_options
def command(
    place: Place,
    modules: tuple[str, ...],
    orphans: tuple[str, ...],
    reason: str,
    patience: Patience,
    telling: Telling,
) -> int:
    """Leave modules alive for good.

    No apply and no destroy touches them any more, and what they need may be torn down. Nothing real is changed. `adopt`
    takes them back.
    """
    if not modules and not orphans:
        raise click.UsageError("name modules, or orphans with --orphan")
    job = teardown_job(place, Selection(modules), orphans, Variables())
    watch = watcher(job, telling)
    with at_work(job, Options(patience=patience), watch) as context:
        end = retain(context, job.modules, reason)
    watch.run_ended(end, {})
    return end.exit_code
