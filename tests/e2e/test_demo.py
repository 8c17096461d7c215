"""The demo does what it shows, says so when it does not, and leaves nothing behind, also when it is interrupted."""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from demo.stage import Stage, Unexpected
from tests.support.processes import end_all
from tools.transcripts import PICTURE, README, lasting, picture_of

ROOT = Path(__file__).parents[2]


class Demo:
    """`python -m demo` at work, with a temporary folder of its own and its output in a file."""

    def __init__(self, folder: Path, word: str) -> None:
        self._word = word
        self.temporary = folder / "t"
        self.temporary.mkdir()
        self._output = folder / "output"
        environment = {**os.environ, "TMPDIR": str(self.temporary)}
        with self._output.open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "demo"], cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT
            )

    @property
    def output(self) -> str:
        return self._output.read_text()

    def wait_until_shown(self, pattern: str) -> None:
        while not re.search(pattern, self.output):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=0.05)
                pytest.fail(f"the demo ended early:\n{self.output}")

    def leaves_nothing(self) -> bool:
        return end_all(self._word) == [] and list(self.temporary.iterdir()) == []


@pytest.fixture
def demo(tmp_path: Path, test_word: str) -> Demo:
    return Demo(tmp_path, test_word)


@pytest.mark.e2e
def test_the_demo_plays_to_its_end_as_the_readme_shows_and_leaves_nothing_behind(demo: Demo) -> None:
    assert demo.process.wait(timeout=300) == 0, demo.output
    picture = PICTURE.findall(README.read_text())[0]
    assert lasting(picture_of(demo.output)) == lasting(picture), "next: make docs"
    assert re.search(r"^configuration +error", demo.output, re.MULTILINE), demo.output
    assert re.search(r"^health +pending", demo.output, re.MULTILINE), demo.output
    assert re.search(r"vm +\| error +the engine says that all is destroyed, but .*vm-[0-9a-f]{8}", demo.output)
    assert re.search(r"^\$ ls cloud\n\n7  ", demo.output, re.MULTILINE), "nothing is left"
    assert "Traceback" not in demo.output
    assert demo.leaves_nothing()


@pytest.mark.e2e
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_leaves_nothing_behind(demo: Demo, number: signal.Signals) -> None:
    demo.wait_until_shown(r"network +\| apply")
    demo.process.send_signal(number)
    assert demo.process.wait(timeout=120) == 130, demo.output
    assert "Traceback" not in demo.output
    assert demo.leaves_nothing()


def test_a_command_that_ends_otherwise_than_expected_fails_the_demo(tmp_path: Path) -> None:
    on = Stage(tmp_path, os.environ, Console(file=io.StringIO()))
    with pytest.raises(Unexpected, match="`hybridwrap --version` ended with exit code 0, expected 4"):
        on.hybridwrap("--version", exit_code=4)
