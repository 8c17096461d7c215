"""`history` in a narrow terminal: ids are shortened before anything is left out, and no word is broken."""

from __future__ import annotations

from collections.abc import Sequence

import click
import pytest
from msgspec.structs import replace

from hybridwrap.cli.commands import history
from hybridwrap.cli.lines import cells, zone
from hybridwrap.cli.reports.wording import rank
from hybridwrap.cli.wrapping import wrapped
from hybridwrap.domain.run import ModuleEnd, Run, RunEnd, RunStart
from tests.support.ledgers import writer

IDS = ("01M8NTEJRV8A8RATQKK035R6SB", "01M8NTCXS2D2391DPW5JN0GNFY")
RESULTS = ("ok", "error", "pending", "destroyed", "retained")


def run(name: str) -> Run:
    start = RunStart(name, "destroy", "2026-01-01T00:00:00Z", writer(), ("destroy",), RESULTS, {})
    return Run(start, RunEnd(name, "2026-01-01T00:01:00Z", 4, {each: ModuleEnd(each) for each in RESULTS}))


RUNS = tuple(map(run, IDS))


def shown(width: int, runs: Sequence[Run] = RUNS) -> list[str]:
    return [click.unstyle(line) for line in history._lines(runs, width, comparable=True)]


def test_where_there_is_room_ids_are_whole_and_the_time_has_its_zone() -> None:
    head, first, _ = shown(0)
    assert head.split() == ["run", "command", "time", zone(), "by", "took", "inputs", "exit", "modules"]
    assert first.startswith(IDS[0])


@pytest.mark.parametrize("width", [60, 80])
def test_a_narrow_terminal_keeps_the_time_and_every_result(width: int) -> None:
    head, *lines = shown(width)
    assert "time" in head
    assert [line.split()[0] for line in lines] == [name[: history.SHORT] for name in IDS]
    pieces = wrapped(lines[0], width)
    assert all(cells(piece) <= width for piece in pieces)
    assert [word for piece in pieces for word in piece.replace(",", "").split() if word in RESULTS] == sorted(
        RESULTS, key=rank
    )


def test_ids_that_begin_alike_stay_whole() -> None:
    other = replace(RUNS[0], start=replace(RUNS[0].start, run=IDS[0][:20] + "000000"))
    assert shown(60, (RUNS[0], other))[1].startswith(IDS[0])
