"""Plans for people."""

from __future__ import annotations

import sys

import click

from hybridwrap.cli.lines import PLANNED, counted
from hybridwrap.run.plan import planned_counts
from hybridwrap.run.preparation import Prepared


def show_plan(prepared: Prepared) -> None:
    """Print what a plan would do: the engine's own text, attribute by attribute."""
    told = counted(planned_counts(prepared), PLANNED) or "only outputs change"
    click.echo(f"\n{click.style(prepared.module.name, bold=True)}  {told}")
    click.echo(prepared.engine.show(prepared.folder, colour=sys.stdout.isatty()), nl=False)
