"""The first mistakes of somebody who comes from Terraform or Terragrunt: each is answered by a line to type."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from hybridwrap.cli.main import COMMANDS
from hybridwrap.cli.mistakes import OF_THE_ENGINE, OURS
from tests.support.project import Project

LINES = {
    "run-all plan": "hybridwrap plan ",
    "run --all apply": "hybridwrap apply ",
    "destroy-all": "hybridwrap destroy ",
    "-chdir=net plan -q": "hybridwrap plan -q -f net/hybridwrap.yaml",
    "plan --terragrunt-working-dir net/": "hybridwrap plan -f net/hybridwrap.yaml",
    "plan -out x": "hybridwrap plan --save ",
    "plan -out=x": "hybridwrap plan --save ",
    "apply --all": "hybridwrap apply",
    "apply -json": "hybridwrap apply --json",
    "apply -parallelism=3 net": "hybridwrap apply --parallelism=3 net",
    "apply --non-interactive net": "hybridwrap apply net --auto-approve",
    "plan -no-color": "hybridwrap plan",
    "init -reconfigure": "say it in the manifest (`state`, `backend_config`), then: hybridwrap render MODULE",
    "destroy -target=a.b": "hybridwrap destroy MODULE ",
    "state list": "hybridwrap tf MODULE -- state list",
    "import 'a.b[\"c\"]' id": "hybridwrap tf MODULE -- import 'a.b[\"c\"]' id",
    "workspace list": "hybridwrap status -e ENVIRONMENT ",
    "force-unlock 12": "hybridwrap unlock MODULE ",
    "fmt": "hybridwrap tf MODULE -- fmt",
    "console": "hybridwrap tf MODULE -- console",
    "providers lock": "hybridwrap lock",
    "providers": "hybridwrap tf MODULE -- providers",
    "version": "hybridwrap --version",
    "-version": "hybridwrap --version",
    "-help": "hybridwrap --help",
    "help plan": "hybridwrap plan --help",
    "tf net plan": "hybridwrap tf net -- plan",
    "exec net env": "hybridwrap exec net -- env",
    "sttaus --json": "hybridwrap status --json",
    "plan --jsno": "hybridwrap plan --help",
    "what": "hybridwrap --help",
}


@pytest.mark.parametrize("typed", LINES)
def test_a_first_mistake_is_answered_by_the_line_to_type(typed: str, tmp_path: Path) -> None:
    ran = Project(tmp_path).call(*shlex.split(typed))
    assert ran.code == 64
    said = ran.err.replace("\n      ", " ")
    if "--json" in typed:
        assert f'"hint":"{LINES[typed]}' in said
    else:
        assert f"next: {LINES[typed]}" in said


def test_what_may_be_a_secret_is_not_said_again(tmp_path: Path) -> None:
    ran = Project(tmp_path).call("apply", "-json", "-var", "password=hunter2", "-var=key=hunter2")
    assert ran.code == 64
    assert "hunter2" not in ran.err
    assert "next: hybridwrap apply --json -var" in ran.err


def test_no_command_of_ours_is_taken_for_one_of_the_engine() -> None:
    assert not set(COMMANDS) & (OF_THE_ENGINE | set(OURS))
    assert {line.split()[1] for line in OURS.values()} <= {*COMMANDS, "--version"}
