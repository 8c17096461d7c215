"""`hybridwrap ledger`."""

from __future__ import annotations

import click

from hybridwrap.cli.completing import offer_modules
from hybridwrap.cli.compose import equip, look_at
from hybridwrap.cli.lines import table
from hybridwrap.cli.options import Place, json_option, stack_options
from hybridwrap.cli.wrapping import say
from hybridwrap.domain.json import canonical
from hybridwrap.errors import LedgerDamaged

SOUND = click.style("sound", fg="green")


@click.group("ledger")
def command() -> None:
    """Look after the ledger itself.

    Where it lies, and whether its logs keep its rules.
    """


@command.command("verify", short_help="Name every entry that breaks a rule of the ledger.")
@stack_options
@click.argument("modules", nargs=-1, shell_complete=offer_modules)
@json_option
def verify(place: Place, modules: tuple[str, ...], as_json: bool) -> int:
    """Read every entry again, and name all that breaks a rule of the ledger.

    Hash chains, sequence, holders, evidence, ends of owners that other ends rest on; exit code 33 when there is any.
    """
    workshop = equip(look_at(place))
    known = modules or sorted({*workshop.stack.modules, *workshop.ledger.modules()})
    flaws = {module: workshop.ledger.verify(module) for module in known}
    if as_json:
        click.echo(canonical({"version": 1, "modules": flaws}))
    rows = [(module, flaw) for module, found in flaws.items() for flaw in found or [SOUND]]
    for line in table(rows) if rows and not as_json else ():
        say(line)
    if not any(flaws.values()):
        return 0
    if not as_json:
        say("next: bring back what is named as it was written: an older version of that object, or a backup")
    return LedgerDamaged.exit_code
