"""Asks about plans: once for all that are ready together, or one by one."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from hybridwrap.cli.plans import show_plan
from hybridwrap.errors import UsageError
from hybridwrap.run.preparation import Prepared
from hybridwrap.run.walk import Approve


def approval(*, auto_approve: bool, as_json: bool) -> Approve | None:
    """Choose who approves: nobody has to, or the person at the terminal. Raise UsageError when nobody is there."""
    if auto_approve:
        return None
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "nobody can be asked to approve here: there is no terminal" if not as_json else "--json asks nobody",
            hint="hybridwrap plan    to look, then: hybridwrap apply --auto-approve",
        )
    return ask


def ask(plans: Sequence[Prepared]) -> frozenset[str]:
    """Show plans that are ready together; say which are approved."""
    for prepared in plans:
        show_plan(prepared)
    names = [prepared.module.name for prepared in plans]
    if len(names) == 1:
        return frozenset(names if click.confirm(f"\nApply {names[0]}?") else ())
    answer = click.prompt(
        f"\nApply these {len(names)}: {', '.join(names)}? [yes, no, one by one]",
        type=click.Choice(["yes", "no", "one"]),
        show_choices=False,
    )
    if answer == "one":
        return frozenset(name for name in names if click.confirm(f"Apply {name}?"))
    return frozenset(names if answer == "yes" else ())
