"""`hybridwrap drift accept`."""

from __future__ import annotations

from datetime import datetime

import click

from hybridwrap.cli.compose import equip, look_at
from hybridwrap.cli.options import Place, stack_options
from hybridwrap.errors import UsageError
from hybridwrap.run.drift_accept import accept
from hybridwrap.run.drift_accept import withdraw as take_back


@click.command("drift accept")
@stack_options
@click.argument("address", metavar="ADDRESS[.ATTRIBUTE]")
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), help="The last day, in UTC: YYYY-MM-DD.")
@click.option("--withdraw", is_flag=True, help="Take back what was decided about this address.")
@click.option("--reason", required=True, help="Why; kept in the ledger.")
@click.option("-m", "--module", default="", help="The module, where the address drifted in several.")
def command(place: Place, address: str, until: datetime | None, withdraw: bool, reason: str, module: str) -> int:
    """Accept recorded drift until a day, or not any more.

    It covers the object or attribute and all below it. After that day it counts as new again; accepting the same
    address once more replaces the earlier decision, and --withdraw takes it back.
    """
    if withdraw == bool(until):
        raise UsageError("say --until DATE to accept it, or --withdraw to take that back")
    workshop = equip(look_at(place))
    if workshop.ledger.exists():
        workshop.ledger.open()
    if until is None:
        name = take_back(workshop.tools, address, module, reason=reason)
        click.echo(f"{name}: {address} is not accepted any more: {reason}")
        return 0
    name, acceptance = accept(workshop.tools, address, module, until=f"{until:%Y-%m-%d}", reason=reason)
    click.echo(f"{name}: {acceptance.target} is accepted until {acceptance.until}: {acceptance.reason}")
    return 0
