"""`hybridwrap show`."""

from __future__ import annotations

import click

from hybridwrap.cli.compose import equip, look_at
from hybridwrap.cli.damage import damage_of, refuse_damage
from hybridwrap.cli.options import Place, json_option, reading_options, terminal_width
from hybridwrap.cli.run_view import lines
from hybridwrap.cli.runs import run_json
from hybridwrap.cli.shared import VARIABLE
from hybridwrap.cli.wrapping import say
from hybridwrap.domain.json import canonical
from hybridwrap.errors import UsageError
from hybridwrap.run.report import read_report


@click.command("show")
@reading_options
@click.argument("run", required=False, envvar=VARIABLE)
@click.option("-m", "--module", "modules", multiple=True, metavar="MODULE", help="In full, and only this one.")
@click.option("-v", "--verbose", is_flag=True, help="All modules in full, and values at any length.")
@json_option
def command(place: Place, run: str | None, modules: tuple[str, ...], verbose: bool, as_json: bool) -> int:
    """Show one run.

    When each module was at work, and what is recorded of it: inputs, errors, evidence, where its log lies. RUN is an
    id, its beginning, or the name of a run that many processes shared; without it, the one that HYBRIDWRAP_RUN names,
    or the newest.
    """
    ledger = equip(look_at(place)).ledger
    report = read_report(ledger, run)
    if as_json:
        click.echo(canonical(run_json(ledger.run(report.start.run))))
        refuse_damage(damage_of(ledger.damage, {module.module for module in report.modules}))
        return 0
    if missing := set(modules) - {module.module for module in report.modules}:
        raise UsageError(f"{report.start.run} did not select {', '.join(sorted(missing))}", hint="hybridwrap show")
    for line in lines(report, modules, terminal_width(), everything=verbose):
        say(line)
    refuse_damage(damage_of(ledger.damage, {module.module for module in report.modules}))
    return 0
