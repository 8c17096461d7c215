"""Lines for a narrow terminal are broken between words, below their last column; commands stay whole."""

from __future__ import annotations

import click
import pytest

from hybridwrap.cli.lines import cells, coloured
from hybridwrap.cli.wrapping import wrapped

RESUME = "hybridwrap resume 01M8NTCXS2D2391DPW5JN0GNFY"
PATH = ".hybridwrap/operations/01M8NTCXSMQVTNDM43YTXASSEK/events.jsonl"


@pytest.mark.parametrize(
    ("line", "width", "lines"),
    [
        ("health  pending  waits for it", 60, ["health  pending  waits for it"]),
        (
            "health  pending   waits for configuration; its inputs are known",
            50,
            ["health  pending   waits for configuration; its", "                  inputs are known"],
        ),
        ("known: archive.endpoint, network.id", 25, ["known: archive.endpoint,", "       network.id"]),
        ("  state lock: left behind by it", 20, ["  state lock: left", "    behind by it"]),
        (f"next: once repaired: {RESUME}", 60, ["next: once repaired:", f"      {RESUME}"]),
        (f"log: {PATH} on vm", 60, [f"log: {PATH} on vm"]),
        ("apply 01M8  08:51:01 UTC  by ana", 20, ["apply 01M8", "  08:51:01 UTC  by", "  ana"]),
        ("ネットワーク  待機  設定 を 待つ", 24, ["ネットワーク  待機  設定", "  を 待つ"]),
        ("", 10, [""]),
    ],
)
def test_a_line_is_broken_between_words(line: str, width: int, lines: list[str]) -> None:
    assert wrapped(line, width) == lines


def test_without_a_terminal_a_line_stays_whole() -> None:
    assert wrapped("word " * 100, 0) == ["word " * 100]


def test_colours_do_not_count_and_are_kept() -> None:
    line = f"{coloured('pending')}  {click.style('waits for the configuration of it', fg='yellow')} and more of it"
    lines = wrapped(line, 40)
    assert [click.unstyle(each) for each in lines] == wrapped(click.unstyle(line), 40)
    assert "".join(lines).count("\x1b") == line.count("\x1b")


@pytest.mark.parametrize("width", range(10, 90, 7))
def test_nothing_is_lost_and_only_what_is_wider_than_a_line_is_too_wide(width: int) -> None:
    line = f"  vm  error  terraform_data.vm: no capacity in eu-central-1a; to repair: {RESUME}   or wait"
    lines = wrapped(line, width)
    assert " ".join(" ".join(lines).split()) == " ".join(line.split())
    assert all(cells(each) <= width or RESUME in each for each in lines if width > len("terraform_data.vm:") + 15)
