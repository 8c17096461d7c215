"""`hybridwrap report`."""

from __future__ import annotations

import click

from hybridwrap.cli.compose import equip, look_at
from hybridwrap.cli.options import Place, reading_options
from hybridwrap.cli.publishing import publish, publish_option
from hybridwrap.cli.reports.file import FORMATS, rendered
from hybridwrap.cli.shared import VARIABLE
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
def command(place: Place, run: str | None, form: str, publish_to: tuple[str, ...]) -> int:
    """Report on one run, for people, CI systems and programs.

    RUN is an id, its beginning, or the name of a run that many processes shared; without it, the one that
    HYBRIDWRAP_RUN names, or the newest. It is read from the ledger alone: the same from any machine, also when the run
    was killed. Exit code 0 whatever the run's own.
    """
    report = read_report(equip(look_at(place)).ledger, run)
    click.echo(rendered(report, form), nl=False)
    publish(report, publish_to)
    return 0
