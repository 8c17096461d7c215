"""`hybridwrap report`."""

from __future__ import annotations

import click

from hybridwrap.cli.compose import equip, look_at
from hybridwrap.cli.damage import damage_of, refuse_damage
from hybridwrap.cli.options import Place, reading_options
from hybridwrap.cli.publishing import publish, publish_option
from hybridwrap.cli.reports.file import FORMATS, rendered
from hybridwrap.cli.shared import VARIABLE
from hybridwrap.cli.wrapping import say
from hybridwrap.errors import ModuleBusy
from hybridwrap.run.report import read_report


@click.command("report")
@reading_options
@click.argument("run", required=False, envvar=VARIABLE)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS.values())),
    default="text",
    show_default=True,
    help="How to print it.",
)
@publish_option
@click.option(
    "-detailed-exitcode",
    "--detailed-exitcode",
    is_flag=True,
    help="Exit with the run's own code; with 20 when no end of it is recorded.",
)
def command(place: Place, run: str | None, form: str, publish_to: tuple[str, ...], detailed_exitcode: bool) -> int:
    """Report on one run, for people, CI systems and programs.

    RUN is an id, its beginning, or the name of a run that many processes shared; without it, the one that
    HYBRIDWRAP_RUN names, or the newest. It is read from the ledger alone: the same from any machine, also when the run
    was killed. Exit code 0 whatever the run's own, unless --detailed-exitcode asks for that; 33 when something that it
    tells of can't be read in the ledger.
    """
    ledger = equip(look_at(place)).ledger
    report = read_report(ledger, run)
    _print(rendered(report, form), form)
    publish(report, publish_to)
    refuse_damage(damage_of(ledger.damage, {module.module for module in report.modules}))
    if not detailed_exitcode:
        return 0
    return ModuleBusy.exit_code if report.exit_code is None else report.exit_code


def _print(text: str, form: str) -> None:
    """Byte for byte, but for what a terminal would break anywhere."""
    if form == "text":
        say(text.removesuffix("\n"))
    else:
        click.echo(text, nl=False)
