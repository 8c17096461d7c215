"""`hybridwrap status`."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import click
from msgspec.structs import replace

from hybridwrap.cli.compose import environments
from hybridwrap.cli.damage import refuse_damage
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.options import Place, json_option, reading_options, selection_options
from hybridwrap.cli.overview import Overview, overview
from hybridwrap.cli.standing_json import standings_json
from hybridwrap.cli.status_view import Frame, environments_lines, status_lines
from hybridwrap.cli.watching import watch as keep_looking
from hybridwrap.domain.json import Json, canonical
from hybridwrap.errors import HybridwrapError, UsageError
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
    is started. Exit code 0 whatever the statuses; 33 when something of the ledger can't be read.
    """
    places = [replace(place, environment=name) for name in environments(place)] if all_environments else [place]

    def look(frame: Frame) -> Iterator[str]:
        seen, unread = _read(places, selection)
        if not seen:
            raise _in_one(unread)
        yield from _lines(seen, frame, beside=all_environments)
        yield from (error.message for error in unread)

    if watch:
        _refuse_without_terminal(as_json=as_json)
        keep_looking(look, time.sleep, lambda: f"{datetime.now(UTC).astimezone():%H:%M:%S %Z}")
    seen, unread = _read(places, selection)
    if as_json:
        found = [_as_json(each) for each in seen]
        click.echo(canonical(found if all_environments else found[0]))
    else:
        for line in _lines(seen, _frame(everything=verbose), beside=all_environments):
            click.echo(line)
    if unread:
        raise _in_one(unread)
    refuse_damage([damage for each in seen for damage in each.damage])
    return 0


def _read(places: Sequence[Place], selection: Selection) -> tuple[list[Overview], list[HybridwrapError]]:
    """Look at each place; of several, one that can't be read keeps nobody from seeing the others."""
    seen: list[Overview] = []
    unread: list[HybridwrapError] = []
    for place in places:
        try:
            seen.append(overview(place, selection))
        except HybridwrapError as error:
            if len(places) == 1:
                raise
            error.message = f"{place.environment}: {error.message}"
            error.hint = as_typed(error.hint, place)
            unread.append(error)
    return seen, unread


def _in_one(unread: Sequence[HybridwrapError]) -> HybridwrapError:
    """The first error, with the words of all."""
    first = unread[0]
    first.message = "\n".join(error.message for error in unread)
    return first


def _lines(seen: Sequence[Overview], frame: Frame, *, beside: bool) -> Iterator[str]:
    if beside:
        yield from environments_lines(seen, frame) if seen else ()
    else:
        yield from status_lines(seen[0], frame)


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
