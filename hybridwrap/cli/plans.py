"""Plans for people."""

from __future__ import annotations

import re
import sys

import click

from hybridwrap.cli.lines import PLANNED, counted
from hybridwrap.domain.redaction import masked_plan
from hybridwrap.run.plan import planned_counts
from hybridwrap.run.preparation import Prepared

LEGEND = re.compile(r"\s*(Terraform|OpenTofu) (used the selected providers to generate|will perform the following act)")


def plan_text(prepared: Prepared) -> str:
    """What a plan would do: the engine's own text, attribute by attribute, without its legend."""
    told = counted(planned_counts(prepared), PLANNED) or "only outputs change"
    head = f"\n{click.style(prepared.module.name, bold=True)}  {told}\n"
    text = prepared.engine.show(prepared.folder, colour=sys.stdout.isatty())
    return head + without_legend(masked_plan(prepared.mask, text)).rstrip("\n")


def without_legend(text: str) -> str:
    """Leave out what an engine says before each plan in the same words: of many modules it would be most of the text.

    What begins otherwise than it is known to begin stays.
    """
    told = [part for part in text.split("\n\n") if not LEGEND.match(click.unstyle(part))]
    return "\n" + "\n\n".join(told).lstrip("\n")
