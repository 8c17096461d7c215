"""`hybridwrap history`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import click

from hybridwrap.cli.columns import fitting, widest
from hybridwrap.cli.compose import equip, look_at
from hybridwrap.cli.damage import refuse_damage
from hybridwrap.cli.lines import coloured, duration, faint, local_time, zone
from hybridwrap.cli.options import Place, json_option, reading_options, terminal_width
from hybridwrap.cli.reports.wording import rank
from hybridwrap.cli.runs import run_json, seconds_of
from hybridwrap.cli.wrapping import say
from hybridwrap.domain.json import canonical
from hybridwrap.domain.run import Run

LEFT_OUT_FIRST = ("inputs", "took", "by", "exit", "time")
SHORT = 13  # characters of an id that tell a run from those of the same second
LEAST = 16  # columns for what became of the modules; more goes on below
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
            say(line)
    refuse_damage(workshop.ledger.damage)
    return 0


def _lines(runs: Sequence[Run], width: int, *, comparable: bool) -> Iterator[str]:
    if not runs:
        yield "nothing was run yet"
        return
    rows = [_row(run, comparable=comparable) for run in runs]
    columns = {name: name for name in rows[0]} | {"time": f"time {zone()}"}
    if width and widest(fitting([columns, *rows], 0, ())) > width:
        rows = _with_short_ids(rows)
    head, *lines = fitting([columns, *rows], width, LEFT_OUT_FIRST, least=LEAST)
    yield faint(head)
    for run, line in zip(runs, lines, strict=True):
        yield line
        if run.start.shared:
            yield faint(f"  of many processes, as {run.start.shared}")
        if run.start.writer.ci_url:
            yield faint(f"  {run.start.writer.ci_url}")


def _with_short_ids(rows: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """The beginnings of ids, which every command takes, as long as they name one run each."""
    short = [{**row, "run": row["run"][:SHORT]} for row in rows]
    return short if len({row["run"] for row in short}) == len(rows) else list(rows)


def _row(run: Run, *, comparable: bool) -> dict[str, str]:
    start, end = run.start, run.end
    digest = start.inputs.removeprefix("sha256:")[:DIGEST] if comparable else ""
    took = duration(seconds_of(run)) if end else ""
    code = "" if end is None else click.style(str(end.exit_code), fg="red" if end.exit_code else "green")
    return {
        "run": start.run,
        "command": start.command,
        "time": local_time(start.time),
        "by": str(start.writer),
        "took": took,
        "inputs": digest,
        "exit": code,
        "modules": _modules(run),
    }


def _modules(run: Run) -> str:
    if run.end is None:
        return f"{len(run.start.modules)} selected; {coloured('running')} or killed: no end is recorded"
    counts = Counter(module.result for module in run.end.modules.values())
    return ", ".join(f"{counts[result]} {coloured(result)}" for result in sorted(counts, key=rank))
