"""A state that somebody else has locked is waited for, if that is asked for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.project import Project, wait

pytestmark = pytest.mark.e2e

MANIFEST = "version: 1\nstack: shop\nmodules:\n  m: {source: m}\n"
HOLD = "import fcntl, sys; f = open(sys.argv[1], 'r+'); fcntl.lockf(f, fcntl.LOCK_EX); print(flush=True); input()"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.write(MANIFEST, m='resource "terraform_data" "it" {}\n')
    assert project.apply().code == 0
    return project


@contextmanager
def locked(project: Project) -> Iterator[None]:
    """Let another process hold the lock that an engine takes on a local state; it has not written who it is."""
    state = project.root / ".hybridwrap/state/default/m.tfstate"
    with subprocess.Popen([sys.executable, "-c", HOLD, state], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        holder.stdout.readline()
        try:
            yield
        finally:
            holder.communicate(b"\n")


def test_without_a_word_it_is_busy_and_how_to_wait_is_said(project: Project) -> None:
    with locked(project):
        ran = project.apply()
    assert ran.code == 20, ran.text
    assert "state lock is held by another process" in ran.text
    assert "--wait" in ran.text


def test_with_wait_it_is_planned_again_once_the_lock_is_gone(project: Project) -> None:
    with locked(project):
        process = project.start("apply", "--auto-approve", "--wait=120")
        assert process.stdout
        assert any("waiting for its state lock" in line for line in process.stdout)
    ran = wait(process)
    assert ran.code == 0, ran.text
    assert "1 unchanged" in ran.text
