"""`hybridwrap history`."""

from __future__ import annotations

from collections import Counter

import click

from hybridwrap.cli.compose import equip, look_at
from hybridwrap.cli.lines import coloured, duration, local_time, table
from hybridwrap.cli.options import Place, json_option, stack_options
from hybridwrap.cli.runs import run_json, seconds_of
from hybridwrap.domain.json import canonical
from hybridwrap.domain.run import Run


@click.command("history")
@stack_options
@click.option("-n", "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many runs.")
@json_option
def command(place: Place, limit: int, as_json: bool) -> int:
    """List the runs, newest first.

    Who ran what, when, and how it ended.
    """
    runs = equip(look_at(place)).ledger.runs(limit)
    if as_json:
        click.echo(canonical([run_json(run) for run in runs]))
        return 0
    if not runs:
        click.echo("nothing was run yet")
        return 0
    for line in table([("run", "command", "time", "by", "took", "exit", "modules"), *map(_row, runs)]):
        click.echo(line)
    return 0


def _row(run: Run) -> tuple[str, ...]:
    start, end = run.start, run.end
    common = (start.run, start.command, local_time(start.time), str(start.writer))
    if end is None:
        return (*common, "", "", f"{len(start.modules)} selected; no end is recorded: still at work, or killed")
    counts = Counter(module.result for module in end.modules.values())
    told = ", ".join(f"{count} {coloured(result)}" for result, count in counts.items())
    return (*common, duration(seconds_of(run)), str(end.exit_code), told)
