"""`hybridwrap sync`."""

from __future__ import annotations

import click

from hybridwrap.cli.compose import equip, load
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.options import Place, stack_options
from hybridwrap.cli.running import aside
from hybridwrap.errors import ModuleBusy, ResultNotSent
from hybridwrap.run.context import Options, Patience
from hybridwrap.run.here import kept_results
from hybridwrap.run.sync import sync


@click.command("sync")
@stack_options
@click.option("--no-wait", is_flag=True, help="Leave engines alone that are still at work.")
def command(place: Place, no_wait: bool) -> int:
    """Finish what killed runs left on this host.

    Results that the ledger does not have yet are sent, and an engine whose hybridwrap was killed is waited for. Each
    writing command does so for its own modules first. Harmless at any time, and as often as you like.
    """
    workshop = equip(load(place))
    workshop.ledger.open()
    left = sync(aside(workshop, Options(patience=Patience(for_engine=not no_wait))))
    for module, text in left.items():
        click.echo(f"{module}: {as_typed(text.removeprefix(f'{module}: '), place)}")
    if not left:
        click.echo("nothing is left to finish on this host")
        return 0
    return ResultNotSent.exit_code if kept_results(workshop.tools) else ModuleBusy.exit_code
