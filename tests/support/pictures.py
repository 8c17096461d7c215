"""`python -m tests.support.pictures`: draw what terminals show, for the pages; from stories, without any engine."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from html import unescape
from io import StringIO
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

from hybridwrap.cli import difference_view, run_view
from hybridwrap.cli.graphs import svg, tree
from hybridwrap.cli.graphs.graph import graph_of
from hybridwrap.cli.live_view import Size, live_lines
from hybridwrap.cli.overview import Overview
from hybridwrap.cli.status_view import Frame, status_lines
from hybridwrap.domain.status import Status
from hybridwrap.run.difference import differences
from hybridwrap.run.report import Report, read_report
from tests.support.standings import overview_of, standing
from tests.support.stories import half_applied
from tests.support.theatre import CHAIN, FOUR, Theatre, half_way

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
WIDTH = 100
Lines = Iterable[str | Text]


def live_run() -> Iterator[Text]:
    theatre = Theatre(FOUR, CHAIN, columns=WIDTH)
    half_way(theatre)
    yield Text.from_ansi(theatre.file.getvalue().rstrip("\n"))
    for line in live_lines(theatre.run._board, 645.0, theatre.clock.monotonic(), Size(WIDTH, 24)):
        yield Text.assemble(*line)


def half_applied_stack() -> Overview:
    return overview_of(
        standing("network"),
        standing("vm", Status.ERROR, "network"),
        standing("configuration", Status.PENDING, "vm", owner="vm", waits_for="vm.address"),
        standing("health", Status.PENDING, "configuration", waits_for="configuration"),
    )


def last_runs() -> tuple[Report, Report]:
    ledger = half_applied().ledger
    after, before = (read_report(ledger, run.start.run) for run in ledger.runs())
    return before, after


PICTURES: Mapping[str, tuple[str, Callable[[], Lines]]] = {
    "live-run": ("hybridwrap apply --auto-approve", live_run),
    "status": ("hybridwrap status", lambda: status_lines(half_applied_stack(), Frame(WIDTH, 24))),
    "graph": ("hybridwrap graph", lambda: tree.lines(graph_of(half_applied_stack()), WIDTH)),
    "show": ("hybridwrap show", lambda: run_view.lines(last_runs()[1], (), WIDTH, everything=False)),
    "diff": (
        "hybridwrap diff RUN RUN",
        lambda: difference_view.lines(*last_runs(), differences(*last_runs()), WIDTH),
    ),
}


def drawn(name: str) -> str:
    """One picture as SVG, without any font from the network. Times are UTC."""
    title, lines = PICTURES[name]
    console = Console(record=True, file=StringIO(), force_terminal=True, width=WIDTH, highlight=False, _environ={})
    for line in lines():
        console.print(line if isinstance(line, Text) else Text.from_ansi(line), soft_wrap=True)
    form = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    return console.export_svg(title=f"$ {title}", theme=DIMMED_MONOKAI, code_format=form, unique_id=name)


def drawn_graph() -> str:
    """The graph as `hybridwrap graph --format svg` draws it."""
    return svg.file(graph_of(half_applied_stack()))


def words(picture: str) -> list[str]:
    """What can be read in a picture: other releases of rich draw the same text otherwise."""
    return unescape(" ".join(re.findall(r">([^<>]+)</text>", picture))).replace("\xa0", " ").split()


def in_utc() -> None:
    os.environ["TZ"] = "UTC"
    time.tzset()


if __name__ == "__main__":
    in_utc()
    FOLDER.mkdir(exist_ok=True)
    for each in PICTURES:
        (FOLDER / f"{each}.svg").write_text(drawn(each))
    (FOLDER / "graph-drawn.svg").write_text(drawn_graph())
