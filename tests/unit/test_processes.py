"""What a test leaves running is ended with it, and nothing of anybody else."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.processes import carried, end_all

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="this system shows no environments")

REPOSITORY = Path(__file__).parents[2]
FAILING = """
import pathlib, subprocess

def test_that_fails():
    subprocess.run(["sh", "-c", "setsid sleep 600 >/dev/null 2>&1 & echo $! > pid"], check=True)
    assert not pathlib.Path("pid").read_text()
"""


def is_alive(pid: int) -> bool:
    """Whether it runs; a dead one may stay listed, without its command, until somebody asks how it ended."""
    line = Path(f"/proc/{pid}/cmdline")
    return line.exists() and bool(line.read_bytes())


def test_a_failed_test_leaves_no_process_behind_in_whatever_session(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(FAILING)
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "tests.support.processes", "-p", "no:cacheprovider", "."]
    ran = subprocess.run(argv, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, check=False)
    assert ran.returncode == 1
    assert not is_alive(int((tmp_path / "pid").read_text()))


def asleep() -> subprocess.Popen[bytes]:
    """A process whose environment can be seen: a new program is there a moment before that."""
    process = subprocess.Popen(["/bin/sleep", "600"])
    while not Path(f"/proc/{process.pid}/environ").read_bytes():
        time.sleep(0.01)
    return process


def test_only_what_carries_the_word_is_ended() -> None:
    with carried("mine"):
        mine = asleep()
    with carried("yours"):
        yours = asleep()
    assert end_all("mine") == ["/bin/sleep 600"]
    assert mine.wait() < 0
    assert yours.poll() is None
    assert end_all("yours") == ["/bin/sleep 600"]
