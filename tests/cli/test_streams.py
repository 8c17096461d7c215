"""Standard streams that are closed, full or gone, and errors that nobody expected."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from hybridwrap.cli.main import LazyGroup
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.run.ends import guarded
from tests.support.project import Project

MANIFEST = "version: 1\nstack: shop\nmodules:\n  app: {source: app}\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.write(MANIFEST, app='output "x" { value = 1 }\n')
    return project


def in_shell(project: Project, words: str) -> subprocess.CompletedProcess[str]:
    command = f"{sys.executable} -m hybridwrap {words}"
    return subprocess.run(  # noqa: S602  # words of this file
        command, shell=True, check=False, cwd=project.root, env=project.env, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("words", ["status", "status --json", "list", "history", "nothing-like-it"])
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_error(project: Project, words: str, closed: str) -> None:
    ran = in_shell(project, f"{words} {closed}")
    assert ran.returncode == (64 if words == "nothing-like-it" else 0), ran
    assert "Traceback" not in ran.stdout + ran.stderr


def test_a_full_output_is_said_in_a_line(project: Project) -> None:
    ran = in_shell(project, "status >/dev/full")
    assert ran.returncode == 1
    assert ran.stderr == "output can't be written: No space left on device\n"


@pytest.mark.e2e
@pytest.mark.parametrize("away", [">&-", ">/dev/full", "--json >/dev/full", "--json | true"])
def test_a_run_ends_and_is_recorded_whoever_reads_of_it(project: Project, away: str) -> None:
    ran = in_shell(project, f"apply --auto-approve {away}")
    assert "Traceback" not in ran.stderr, ran.stderr
    assert project.statuses() == {"app": "ok"}
    assert project.run("history", "--json").json[0]["end"]["exit_code"] == 0


def test_a_bug_ends_its_own_module_only() -> None:
    def work(_: str) -> ModuleEnd:
        raise ZeroDivisionError("so\nit is")

    end = guarded("app", work)
    assert (end.result, end.exit_code) == ("bug", 1)
    assert end.reason == "this is a bug in hybridwrap: ZeroDivisionError: so it is; -vv shows where"


@pytest.mark.parametrize(("argv", "traceback"), [([], False), (["-vv"], True)])
def test_a_bug_is_a_line_and_a_traceback_only_when_asked(
    argv: list[str], capfd: pytest.CaptureFixture[str], *, traceback: bool
) -> None:
    verbose = click.Option(["-v"], count=True, expose_value=False)
    group = LazyGroup("x", callback=lambda: 1 / 0, invoke_without_command=True, params=[verbose])
    with pytest.raises(SystemExit) as ended:
        group.main(["-v", *argv])
    told = capfd.readouterr().err
    assert ended.value.code == 1
    assert "this is a bug in hybridwrap: ZeroDivisionError: division by zero; -vv shows where\nnext: report it" in told
    assert ("Traceback" in told) is traceback
