"""`hybridwrap status`."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator

import click
from msgspec.structs import replace

from hybridwrap.cli.compose import environments
from hybridwrap.cli.options import Place, json_option, reading_options, selection_options
from hybridwrap.cli.overview import Overview, overview
from hybridwrap.cli.standing_json import standings_json
from hybridwrap.cli.status_view import Frame, environments_lines, status_lines
from hybridwrap.cli.watching import watch as keep_looking
from hybridwrap.domain.json import Json, canonical
from hybridwrap.errors import UsageError
from hybridwrap.run.selection import Selection


@click.command("status")
@reading_options
@selection_options
@click.option("--all-environments", is_flag=True, help="All environments of the manifest, beside each other.")
@click.option("--watch", is_flag=True, help="Look again every two seconds, until Ctrl-C.")
@click.option("-v", "--verbose", is_flag=True, help="A line for each module, however many there are.")
@json_option
def command(
    place: Place, selection: Selection, all_environments: bool, watch: bool, verbose: bool, as_json: bool
) -> int:
    """Show where each module stands.

    What is well is above the line, what is not below it, each in the order of the graph. Nothing is changed, no engine
    is started. Exit code 0 whatever the statuses.
    """
    places = [replace(place, environment=name) for name in environments(place)] if all_environments else [place]

    def look(frame: Frame) -> Iterator[str]:
        seen = [overview(each, selection) for each in places]
        yield from environments_lines(seen, frame) if all_environments else status_lines(seen[0], frame)

    if watch:
        _refuse_without_terminal(as_json=as_json)
        keep_looking(look, time.sleep)
    if as_json:
        found = [_as_json(overview(each, selection)) for each in places]
        click.echo(canonical(found if all_environments else found[0]))
        return 0
    for line in look(_frame(everything=verbose)):
        click.echo(line)
    return 0


def _refuse_without_terminal(*, as_json: bool) -> None:
    if as_json or not sys.stdout.isatty():
        raise UsageError("--watch needs a terminal", hint="hybridwrap status, again and again")


def _frame(*, everything: bool) -> Frame:
    """The terminal's; what is read by programs is neither cut nor folded."""
    if not sys.stdout.isatty():
        return Frame()
    columns, rows = shutil.get_terminal_size()
    return Frame(columns, 0 if everything else rows)


def _as_json(seen: Overview) -> Json:
    return standings_json(seen.stack, seen.standings, seen.runs, seen.today)
