"""A run at a real terminal: what is left on the screen, and what does not get loaded without one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.support.project import Project
from tests.support.screen import Screen
from tests.support.terminal import Terminal

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
engine: {program: ENGINE}
modules:
  first: {source: first}
  slow: {source: slow, inputs: {id: "{{ modules.first.id }}"}}
  last: {source: last, depends_on: [slow]}
"""
FIRST = 'resource "terraform_data" "it" {}\noutput "id" { value = terraform_data.it.id }\n'
SLOW = """
variable "id" { type = string }
resource "terraform_data" "waits" {
  provisioner "local-exec" {
    command     = "touch begun; while [ ! -e go ]; do sleep 0.1; done"
    working_dir = "WHERE"
  }
}
"""
RUN = [sys.executable, "-m", "hybridwrap"]


@pytest.fixture
def project(tmp_path: Path, engine_program: str) -> Project:
    project = Project(tmp_path, {"TERM": "xterm-256color", "CI": "", "NO_COLOR": "", "COLUMNS": "90"})
    slow = SLOW.replace("WHERE", str(tmp_path))
    project.write(STACK.replace("ENGINE", engine_program), first=FIRST, slow=slow, last=FIRST)
    return project


def apply(
    project: Project, *argv: str, columns: int = 80, environ: Mapping[str, str] = MappingProxyType({})
) -> Terminal:
    env = {**project.env, **environ}
    return Terminal([*RUN, "apply", "--auto-approve", *argv], cwd=project.root, env=env, columns=columns)


def left(terminal: Terminal, columns: int = 80) -> list[str]:
    screen = Screen(columns)
    screen.write(terminal.raw)
    assert screen.cursor_shown
    return screen.lines


@pytest.mark.parametrize("columns", [60, 160])
def test_what_is_at_work_is_shown_and_only_what_was_done_is_left(project: Project, columns: int) -> None:
    with apply(project, columns=columns) as terminal:
        terminal.expect("terraform_data.waits")
        (project.root / "go").touch()
        assert terminal.wait() == 0
    lines = left(terminal, columns)
    assert [line.split()[:2] for line in lines[:3]] == [["first", "ok"], ["slow", "ok"], ["last", "ok"]]
    assert lines[3].startswith("3 ok in ")
    assert len(lines) == 4


def test_ctrl_c_loses_no_line(project: Project) -> None:
    with apply(project) as terminal:
        terminal.expect("terraform_data.waits")
        terminal.press("\x03")
        terminal.expect("SIGINT: ending 1 engine gracefully; nothing new starts")
        (project.root / "go").touch()
        assert terminal.wait() == 130
    lines = left(terminal)
    assert lines[0].split()[:2] == ["first", "ok"]
    assert lines[1] == "SIGINT: ending 1 engine gracefully; nothing new starts"
    assert any(line.startswith("last ") and "pending" in line for line in lines)
    assert any(line.startswith("1 ok, ") for line in lines[-4:])
    assert lines[-1].startswith("next: ")
    assert not [line for line in lines if " running, " in line or "^C" in line], "nothing of the display is left"


@pytest.mark.parametrize(
    ("argv", "environ"),
    [(["--log-format", "plain"], {}), ([], {"CI": "true", "NO_COLOR": "1"}), ([], {"TERM": "dumb"}), (["--quiet"], {})],
    ids=["asked", "CI without colour", "dumb terminal", "quiet"],
)
def test_lines_stay_where_nobody_wants_them_rewritten(
    project: Project, argv: list[str], environ: dict[str, str]
) -> None:
    (project.root / "go").touch()
    with apply(project, *argv, environ=environ) as terminal:
        assert terminal.wait() == 0
    assert "\x1b[1A" not in terminal.raw
    assert "\x1b[?25l" not in terminal.raw
    if {"NO_COLOR", "TERM"} & set(environ):  # a dumb terminal shows colours as letters
        assert "\x1b" not in terminal.raw


def test_no_color_leaves_the_display_and_takes_the_colours(project: Project) -> None:
    (project.root / "go").touch()
    with apply(project, environ={"NO_COLOR": "1"}) as terminal:
        assert terminal.wait() == 0
    assert "\x1b[?25l" in terminal.raw
    assert "\x1b[3" not in terminal.raw


def test_log_format_json_is_the_stream_of_json(project: Project) -> None:
    (project.root / "go").touch()
    lines = project.apply("--log-format", "json").lines
    assert (lines[0]["type"], lines[-1]["type"]) == ("run_began", "result")
    refused = project.run("apply", "--log-format", "json")
    assert '"type":"exit"' in refused.err


@pytest.mark.parametrize("argv", [["--help"], ["apply", "--help"], ["apply", "--auto-approve"]])
def test_rich_is_not_loaded_where_it_shows_nothing(project: Project, argv: list[str]) -> None:
    (project.root / "go").touch()
    code = "import sys; from hybridwrap.cli.main import main\n"
    code += "try: main(sys.argv[1:])\nfinally: print('rich' in sys.modules)"
    env = {**project.env, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, "-c", code, *argv], cwd=project.root, env=env, capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines()[-1] == "False"
