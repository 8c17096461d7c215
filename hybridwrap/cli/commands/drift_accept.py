"""`hybridwrap drift accept`."""

from __future__ import annotations

from datetime import datetime

import click

from hybridwrap.cli.compose import equip, look_at
from hybridwrap.cli.options import Place, stack_options
from hybridwrap.run.drift_accept import accept


@click.command("drift accept")
@stack_options
@click.argument("address", metavar="ADDRESS[.ATTRIBUTE]")
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), required=True, help="The last day, in UTC: YYYY-MM-DD.")
@click.option("--reason", required=True, help="Why; kept in the ledger.")
@click.option("-m", "--module", default="", help="The module, where the address drifted in several.")
def command(place: Place, address: str, until: datetime, reason: str, module: str) -> int:
    """Accept recorded drift until a day.

    It covers the object or attribute and all below it. After that day it counts as new again; accepting the same
    address once more replaces the earlier decision.
    """
    workshop = equip(look_at(place))
    if workshop.ledger.exists():
        workshop.ledger.open()
    name, acceptance = accept(workshop.tools, address, module, until=f"{until:%Y-%m-%d}", reason=reason)
    click.echo(f"{name}: {acceptance.target} is accepted until {acceptance.until}: {acceptance.reason}")
    return 0
