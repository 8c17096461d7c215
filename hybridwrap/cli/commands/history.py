"""`hybridwrap history`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import click

from hybridwrap.cli.columns import fitting
from hybridwrap.cli.compose import equip, look_at
from hybridwrap.cli.damage import refuse_damage
from hybridwrap.cli.lines import coloured, duration, faint, local_time
from hybridwrap.cli.options import Place, json_option, reading_options, terminal_width
from hybridwrap.cli.reports.wording import rank
from hybridwrap.cli.runs import run_json, seconds_of
from hybridwrap.domain.json import canonical
from hybridwrap.domain.run import Run

HEAD = ("run", "command", "time", "by", "took", "inputs", "exit", "modules")
LEFT_OUT_FIRST = ("inputs", "took", "by", "exit", "time")
DIGEST = 8  # characters of a digest that are shown


@click.command("history")
@reading_options
@click.option("-n", "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many runs.")
@json_option
def command(place: Place, limit: int, as_json: bool) -> int:
    """List the runs, newest first.

    Who ran what, when, and how it ended. `inputs` is a digest of what the manifest gave to the modules: runs with the
    same one were to make the same.
    """
    workshop = equip(look_at(place))
    runs = workshop.ledger.runs(limit)
    if as_json:
        click.echo(canonical([run_json(run) for run in runs]))
    else:
        # What is encrypted looks different each time: then a digest tells nothing.
        for line in _lines(runs, terminal_width(), comparable=not workshop.stack.ledger.encryption):
            click.echo(line)
    refuse_damage(workshop.ledger.damage)
    return 0


def _lines(runs: Sequence[Run], width: int, *, comparable: bool) -> Iterator[str]:
    if not runs:
        yield "nothing was run yet"
        return
    rows = [dict(zip(HEAD, _row(run, comparable=comparable), strict=True)) for run in runs]
    head, *lines = fitting([dict(zip(HEAD, HEAD, strict=True)), *rows], width, LEFT_OUT_FIRST)
    yield faint(head)
    for run, line in zip(runs, lines, strict=True):
        yield line
        if run.start.shared:
            yield faint(f"  of many processes, as {run.start.shared}")
        if run.start.writer.ci_url:
            yield faint(f"  {run.start.writer.ci_url}")


def _row(run: Run, *, comparable: bool) -> tuple[str, ...]:
    start, end = run.start, run.end
    digest = start.inputs.removeprefix("sha256:")[:DIGEST] if comparable else ""
    took = duration(seconds_of(run)) if end else ""
    code = "" if end is None else click.style(str(end.exit_code), fg="red" if end.exit_code else "green")
    return (start.run, start.command, local_time(start.time), str(start.writer), took, digest, code, _modules(run))


def _modules(run: Run) -> str:
    if run.end is None:
        return f"{len(run.start.modules)} selected; {coloured('running')} or killed: no end is recorded"
    counts = Counter(module.result for module in run.end.modules.values())
    return ", ".join(f"{counts[result]} {coloured(result)}" for result in sorted(counts, key=rank))
