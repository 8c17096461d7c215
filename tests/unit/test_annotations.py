"""Errors at the lines of a pull request: as GitHub's runner reads them, and only where there is one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridwrap.cli.annotations import SHOWN, data, setting, workflow_commands
from hybridwrap.cli.plain_lines import PlainLines
from hybridwrap.cli.scene import Scene
from hybridwrap.domain.engine_run import Diagnostic
from hybridwrap.domain.run import ModuleEnd, RunEnd
from hybridwrap.domain.stack import Module
from tests.support.ledgers import FakeClock

ROOT = Path("/repo/live")
ACTIONS = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": "/repo"}
DECLARED = {"vm": Module("vm", Path("/repo/modules/vm"))}
SCENE = Scene(FakeClock(), ROOT, DECLARED, ("vm",), 1, lambda *_: "", tuple)


def commands(*errors: Diagnostic, environ: dict[str, str] = ACTIONS) -> list[str]:
    return list(workflow_commands({"vm": ModuleEnd("error", errors=errors)}, SCENE, environ))


def test_an_error_stands_at_its_line_as_seen_from_the_top_of_the_repository() -> None:
    error = Diagnostic("error", "no capacity", "50% left,\nsaid: none", "aws_instance.web", "main.tf", 21)
    assert commands(error) == [
        "::error file=modules/vm/main.tf,title=vm%3A no capacity,line=21::"
        "aws_instance.web: no capacity%0A50%25 left,%0Asaid: none"
    ]


def test_an_error_without_a_place_has_none() -> None:
    assert commands(Diagnostic("error", "no capacity")) == ["::error title=vm%3A no capacity::no capacity"]


def test_github_shows_ten_errors_of_a_step_so_the_others_are_counted() -> None:
    told = commands(*(Diagnostic("error", f"number {number}") for number in range(SHOWN + 3)))
    assert len(told) == SHOWN + 1
    assert told[-1] == "::notice::3 more errors: in the log"


@pytest.mark.parametrize("environ", [{}, {"GITHUB_ACTIONS": "false"}])
def test_nothing_is_said_outside_github_actions(environ: dict[str, str]) -> None:
    assert commands(Diagnostic("error", "no capacity"), environ=environ) == []


@given(st.text())
def test_no_text_begins_another_command_or_property(text: str) -> None:
    assert not set("\r\n") & set(data(text))
    assert not set("\r\n:,") & set(setting(text))


def test_a_run_says_them_on_stderr_at_its_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ACTIONS.items():
        monkeypatch.setenv(name, value)
    errors = (Diagnostic("error", "no capacity", "", "", "main.tf", 3),)
    ends = {"vm": ModuleEnd("error", 4, errors=errors)}
    PlainLines(SCENE).run_ended(RunEnd("run", "2026-01-01T00:00:00Z", 4, ends), {})
    told = capsys.readouterr()
    assert told.err == "::error file=modules/vm/main.tf,title=vm%3A no capacity,line=3::no capacity\n"
    assert "::" not in told.out
