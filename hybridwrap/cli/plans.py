"""Plans for people."""

from __future__ import annotations

import sys

import click

from hybridwrap.cli.lines import PLANNED, counted
from hybridwrap.domain.redaction import masked_plan
from hybridwrap.run.plan import planned_counts
from hybridwrap.run.preparation import Prepared


def plan_text(prepared: Prepared) -> str:
    """What a plan would do: the engine's own text, attribute by attribute."""
    told = counted(planned_counts(prepared), PLANNED) or "only outputs change"
    head = f"\n{click.style(prepared.module.name, bold=True)}  {told}\n"
    text = prepared.engine.show(prepared.folder, colour=sys.stdout.isatty())
    return head + masked_plan(prepared.mask, text).rstrip("\n")
