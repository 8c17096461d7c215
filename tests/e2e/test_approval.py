"""Approving at a terminal, wave by wave."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hybridwrap.domain.duration import in_words
from tests.support.project import Project, seconds_to_plan
from tests.support.terminal import Terminal

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
engine: {program: ENGINE}
modules:
  left: {source: left}
  right: {source: right}
  below: {source: below, inputs: {id: "{{ modules.left.id }}"}}
"""
SOURCE = 'resource "terraform_data" "it" {}\noutput "id" { value = terraform_data.it.id }\n'
BELOW = 'variable "id" { type = string }\nresource "terraform_data" "it" { input = var.id }\n'


@pytest.fixture
def project(tmp_path: Path, engine_program: str) -> Project:
    project = Project(tmp_path)
    project.write(STACK.replace("ENGINE", engine_program), left=SOURCE, right=SOURCE, below=BELOW)
    return project


def apply_at_terminal(project: Project, *options: str) -> Terminal:
    return Terminal([sys.executable, "-m", "hybridwrap", "apply", *options], cwd=project.root, env=project.env)


def test_each_wave_is_shown_with_real_values_and_asked_about_once(project: Project) -> None:
    with apply_at_terminal(project) as terminal:
        terminal.expect("Apply these 2: left, right? [yes, no, one by one]")
        assert "terraform_data.it will be created" in terminal.seen
        assert "below" not in terminal.seen
        terminal.type("yes")
        terminal.expect("Apply below?")
        assert project.outputs()["left"]["id"]["value"] in terminal.seen
        terminal.type("y")
        assert terminal.wait() == 0
    assert set(project.statuses().values()) == {"ok"}


def test_a_no_leaves_the_module_and_what_needs_it_pending(project: Project) -> None:
    with apply_at_terminal(project) as terminal:
        terminal.expect("one by one]")
        terminal.type("one")
        terminal.expect("Apply left?")
        terminal.type("n")
        terminal.expect("Apply right?")
        terminal.type("y")
        assert terminal.wait() == 130
    assert project.statuses() == {"left": "pending", "right": "ok", "below": "pending"}
    assert project.status()["below"]["reason"] == "waits for left.id"


def last_run(project: Project) -> dict[str, str]:
    """The reasons of the newest run, by module; that it has an end is asserted."""
    report = project.call("report", "--format", "json").json
    assert report["run"]["exit_code"] == 130
    return {module["module"]: module["reason"] for module in report["modules"]}


def test_a_terminal_that_is_closed_during_the_question_has_said_no(project: Project) -> None:
    with apply_at_terminal(project) as terminal:
        terminal.expect("one by one]")
        terminal.hang_up()
        assert terminal.ended() == 130
    assert set(project.statuses().values()) == {"pending"}
    assert last_run(project)["left"] == "not approved"


def test_the_time_of_the_run_ends_an_open_question_too(project: Project) -> None:
    enough = in_words(seconds_to_plan(project))
    with apply_at_terminal(project, "--timeout", enough) as terminal:
        terminal.expect("one by one]")
        assert terminal.wait() == 130
    assert set(project.statuses().values()) == {"pending"}
    assert last_run(project)["left"] == f"the time of the run was up after {enough}"


def test_unchanged_modules_need_no_question(project: Project) -> None:
    assert project.apply().code == 0
    with apply_at_terminal(project) as terminal:
        assert terminal.wait() == 0
    assert "?" not in terminal.seen
    assert "3 unchanged" in terminal.seen


def test_what_somebody_else_did_during_the_question_is_seen_before_anything_is_applied(project: Project) -> None:
    with apply_at_terminal(project) as terminal:
        terminal.expect("one by one]")
        assert project.apply("left").code == 0
        terminal.type("yes")
        terminal.expect("somebody else acted on it meanwhile")
        terminal.expect("Apply below?")
        terminal.type("y")
        assert terminal.wait() == 0
    assert len(project.ledger().history("left")) == 2, "the first apply was not done again"


def test_a_raw_command_during_the_question_makes_the_plan_stale_and_another_is_made(project: Project) -> None:
    """The ledger can't see a raw command; the engine's own check of the saved plan can."""
    assert project.apply("left").code == 0
    project.write((project.root / "hybridwrap.yaml").read_text(), left=SOURCE.replace("{}", '{ input = "new" }'))
    with Terminal([sys.executable, "-m", "hybridwrap", "apply", "left"], cwd=project.root, env=project.env) as terminal:
        terminal.expect("Apply left?")
        state = project.root / ".hybridwrap" / "state" / "default" / "left.tfstate"
        moved = json.loads(state.read_text())
        state.write_text(json.dumps({**moved, "serial": moved["serial"] + 5}))
        terminal.type("y")
        terminal.expect("planning again")
        assert terminal.wait() == 0
    assert project.statuses()["left"] == "ok"
    kinds = [entry.kind for entry in project.ledger().history("left")]
    assert kinds == ["begin", "end", "begin", "end", "begin", "end"]
