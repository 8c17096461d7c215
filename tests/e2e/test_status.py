"""`status` as it is typed: selections, environments, and looking again and again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.project import Project
from tests.support.terminal import Terminal

STACK = """
version: 1
stack: shop
environments: {dev: {}, prod: {}}
modules:
  network: {source: source}
  vm: {source: source, depends_on: [network]}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path, {"TERM": "xterm-256color"})
    project.write(STACK, source='resource "terraform_data" "it" {}\n')
    return project


def test_a_selection_narrows_what_is_shown(project: Project) -> None:
    assert [m["module"] for m in project.run("status", "-e", "dev", "vm", "--json").json["modules"]] == ["vm"]
    assert len(project.run("status", "-e", "dev", "--status", "none", "--json").json["modules"]) == 2
    assert project.run("status", "-e", "dev", "--status", "error").code == 64


def test_all_environments_are_told_together(project: Project) -> None:
    assert project.run("status", "--all-environments").out.splitlines()[0].split() == ["module", "dev", "prod"]
    found = project.run("status", "--all-environments", "--json").json
    assert [each["environment"] for each in found] == ["dev", "prod"]


def test_an_environment_that_can_not_be_read_hides_no_other_one(project: Project) -> None:
    manifest = project.root / "hybridwrap.yaml"
    manifest.write_text(STACK.replace("prod: {}", "prod: {}, broken: {modules: {vm: {depends_on: [nowhere]}}}"))
    ran = project.run("status", "--all-environments")
    assert ran.code == 10
    assert ran.out.splitlines()[0].split() == ["module", "dev", "prod"]
    assert ran.err.startswith("broken: ")
    assert "nowhere" in ran.err
    found = project.run("status", "--all-environments", "--json")
    assert ([each["environment"] for each in found.json], found.code) == (["dev", "prod"], 10)


def test_watching_ends_well_with_ctrl_c_and_leaves_the_last_look(project: Project) -> None:
    argv = [sys.executable, "-m", "hybridwrap", "status", "-e", "dev", "--watch"]
    with Terminal(argv, cwd=project.root, env=project.env) as terminal:
        terminal.expect("Ctrl-C ends this")
        terminal.press("\x03")
        assert terminal.wait() == 0
    assert "shop in dev   2 none" in terminal.seen.rpartition("Ctrl-C ends this")[2]


def test_while_nothing_can_be_read_what_was_seen_last_stays(project: Project) -> None:
    argv = [sys.executable, "-m", "hybridwrap", "status", "--all-environments", "--watch"]
    with Terminal(argv, cwd=project.root, env=project.env) as terminal:
        terminal.expect("Ctrl-C ends this")
        (project.root / "hybridwrap.yaml").write_text(STACK.replace("[network]", "[nowhere]"))
        terminal.expect("can't be read at")
        terminal.expect("Ctrl-C ends this")
        assert "network" in terminal.seen.rpartition("can't be read at")[0].rpartition("Ctrl-C")[2]
        terminal.press("\x03")
        assert terminal.wait() == 10, "the last look, which is left, says so"


def test_watching_needs_a_terminal(project: Project) -> None:
    ran = project.run("status", "-e", "dev", "--watch")
    assert (ran.code, "terminal" in ran.err) == (64, True)
