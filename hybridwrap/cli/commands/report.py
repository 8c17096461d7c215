"""`hybridwrap report`."""

from __future__ import annotations

from importlib import import_module

import click

from hybridwrap.cli.compose import equip, look_at
from hybridwrap.cli.options import Place, stack_options
from hybridwrap.run.report import read_report

FORMATS = ("text", "json", "csv", "junit", "markdown", "html")  # each a module of cli.reports


@click.command("report")
@stack_options
@click.argument("run", required=False)
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="How to print it."
)
def command(place: Place, run: str | None, form: str) -> int:
    """Report on one run, for people, CI systems and programs.

    RUN is an id or its beginning; without it, the newest run. It is read from the ledger alone: the same from any
    machine, also when the run was killed. Exit code 0 whatever the run's own.
    """
    report = read_report(equip(look_at(place)).ledger, run)
    click.echo(import_module(f"hybridwrap.cli.reports.{form}").render(report), nl=False)
    return 0
