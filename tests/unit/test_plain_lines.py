"""A run as lines that stay: what is told at which verbosity, and signs of life in between."""

from __future__ import annotations

import re
import sys
from io import StringIO
from pathlib import Path

import pytest

from hybridwrap.cli.plain_lines import SILENCE, PlainLines
from hybridwrap.cli.scene import Scene
from hybridwrap.domain.engine_run import Action, ChangeSummary, Diagnostic, Hook, PlannedChange
from hybridwrap.domain.run import ModuleEnd, RunEnd
from hybridwrap.domain.stack import Module
from tests.support.ledgers import FakeClock

ROOT = Path("/stack")
ERROR = Diagnostic("error", "no capacity", "line 1\nline 2\nline 3\nline 4\nline 5", "aws_instance.web", "main.tf", 21)


def plain(clock: FakeClock, verbosity: int = 0) -> PlainLines:
    modules = ("network", "vm")
    declared = {name: Module(name, ROOT / "modules" / name) for name in modules}
    return PlainLines(Scene(clock, ROOT, declared, modules, 4, lambda *_: "/log/events.jsonl", tuple), verbosity)


def play(lines: PlainLines) -> None:
    lines.phase("vm", "init")
    lines.phase("vm", "plan")
    lines.event("vm", PlannedChange("aws_instance.web", Action.CREATE))
    lines.event("vm", ChangeSummary("plan", {"add": 1}))
    lines.phase("vm", "apply")
    lines.event("vm", Hook("aws_instance.disk", Action.CREATE, "start"))
    lines.event("vm", Hook("aws_instance.disk", Action.CREATE, "complete"))
    lines.event("vm", Hook("aws_instance.web", Action.CREATE, "errored"))
    lines.warning("vm", "changed outside")
    lines.module_ended("vm", ModuleEnd("error", 4, "01K7", errors=(ERROR, ERROR), seconds=12))


def told(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line.partition(" | ")[2] for line in capsys.readouterr().out.splitlines()]


FAILED = [
    "error      aws_instance.web: no capacity   modules/vm/main.tf:21  12.0s",
    "  line 1",
    "  line 2",
    "  line 3",
    "  line 4",
    "  … 1 more",
    "and 1 more: with -v, or in the log",
    "log: /log/events.jsonl",
]


def test_a_log_has_phases_that_change_things_failures_and_ends(capsys: pytest.CaptureFixture[str]) -> None:
    play(plain(FakeClock()))
    assert told(capsys) == ["apply …", "aws_instance.web: creating failed", "warning: changed outside", *FAILED]


def test_quiet_has_only_what_is_not_well(capsys: pytest.CaptureFixture[str]) -> None:
    lines = plain(FakeClock(), verbosity=-1)
    play(lines)
    lines.module_ended("network", ModuleEnd("ok", seconds=1))
    assert told(capsys) == ["warning: changed outside", *FAILED]


def test_verbose_has_every_phase_each_object_that_is_done_and_all_errors(capsys: pytest.CaptureFixture[str]) -> None:
    play(plain(FakeClock(), verbosity=1))
    lines = told(capsys)
    assert lines[:5] == ["init …", "plan …", "plan: 1 to create", "apply …", "aws_instance.disk: creating done"]
    assert lines.count("  line 5") == 2


def test_very_verbose_has_each_step(capsys: pytest.CaptureFixture[str]) -> None:
    play(plain(FakeClock(), verbosity=2))
    assert "aws_instance.disk: creating …" in told(capsys)


def test_every_line_has_time_and_module(capsys: pytest.CaptureFixture[str]) -> None:
    play(plain(FakeClock()))
    for line in capsys.readouterr().out.splitlines():
        assert re.match(r"\d\d:\d\d:\d\d vm      \| ", line)


def test_so_has_each_further_line_of_a_reason_or_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    lines = plain(FakeClock())
    lines.warning("vm", "changed outside\nand more")
    lines.module_ended(
        "vm", ModuleEnd("refused", 32, reason="stopped before anything\n  recorded  serial 5\n  found     none")
    )
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 5
    for line in printed:
        assert re.match(r"\d\d:\d\d:\d\d vm      \| ", line), line
    assert [line.partition(" | ")[2] for line in printed[-2:]] == ["  recorded  serial 5", "  found     none"]


def test_silence_is_broken_by_a_sign_of_life(capsys: pytest.CaptureFixture[str]) -> None:
    clock = FakeClock()
    lines = plain(clock)
    lines.phase("vm", "plan")
    lines.event("vm", PlannedChange("aws_instance.web", Action.CREATE))
    lines.phase("vm", "apply")
    lines.event("vm", Hook("aws_instance.web", Action.CREATE, "start"))
    capsys.readouterr()
    clock.sleep(SILENCE - 1)
    lines.heartbeat()
    assert capsys.readouterr().out == ""
    clock.sleep(1)
    lines.heartbeat()
    assert capsys.readouterr().out[9:] == (
        "still at work: vm apply 0 of 1 for 30s, aws_instance.web creating for 30s   1 running, 1 pending\n"
    )
    lines.heartbeat()
    assert capsys.readouterr().out == "", "it has just spoken"


class Gone(StringIO):
    """A stream whose reader is gone."""

    tries = 0

    def write(self, text: str) -> int:
        self.tries += bool(text)  # click tries with nothing what kind of stream it is
        raise BrokenPipeError


def test_a_stream_whose_reader_is_gone_is_not_tried_without_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, gone = FakeClock(), Gone()
    lines = plain(clock)
    lines.phase("vm", "apply")
    clock.sleep(SILENCE)
    monkeypatch.setattr(sys, "stdout", gone)
    lines.heartbeat()
    lines.heartbeat()
    assert gone.tries == 1


def test_in_a_long_log_the_failures_are_told_again_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    lines = plain(FakeClock())
    ends = {f"m{index:02}": ModuleEnd("ok") for index in range(30)} | {"vm": ModuleEnd("error", 4, errors=(ERROR,))}
    lines.run_ended(RunEnd("R1", "2026-01-01T00:01:00Z", 4, ends), {})
    told_last = capsys.readouterr().out.splitlines()
    assert told_last[0] == "error  vm: aws_instance.web: no capacity   modules/vm/main.tf:21"
    assert told_last[1].startswith("30 ok, 1 error in ")
