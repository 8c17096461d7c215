"""`hybridwrap diff`."""

from __future__ import annotations

import click

from hybridwrap.cli.compose import equip, look_at
from hybridwrap.cli.damage import damage_of, refuse_damage
from hybridwrap.cli.difference_view import as_json as difference_json
from hybridwrap.cli.difference_view import lines
from hybridwrap.cli.options import Place, json_option, reading_options, terminal_width
from hybridwrap.cli.wrapping import say
from hybridwrap.domain.json import canonical
from hybridwrap.run.difference import differences
from hybridwrap.run.report import read_report


@click.command("diff")
@reading_options
@click.argument("before", metavar="RUN")
@click.argument("after", metavar="RUN")
@json_option
def command(place: Place, before: str, after: str, as_json: bool) -> int:
    """Show what is different between two runs.

    For each module: how it ended, its inputs, outputs and objects, its source and the engine's version, as the one run
    left them and as the other did. RUN is an id or its beginning. Secrets are not shown; that one changed is.
    """
    ledger = equip(look_at(place)).ledger
    reports = read_report(ledger, before), read_report(ledger, after)
    found = differences(*reports)
    if as_json:
        click.echo(canonical(difference_json(*reports, found)))
    else:
        for line in lines(*reports, found, terminal_width()):
            say(line)
    refuse_damage(damage_of(ledger.damage, {module.module for report in reports for module in report.modules}))
    return 0
