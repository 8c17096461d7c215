"""hybridwrap whose clock is an hour ahead as soon as a file is there: `python -m tests.support.hour_later FILE WORDS…`.

So a time is up at the moment that a test chooses, whatever else this machine has to do.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tests.support.project import Project

SECONDS = 3600
REPOSITORY = Path(__file__).parents[2]


def with_an_hour_to_pass(project: Project, file: Path) -> Project:
    """The same project, for whose commands an hour is over once the file is there."""
    program = (sys.executable, "-m", "tests.support.hour_later", str(file))
    return Project(project.root, {**project.environ, "PYTHONPATH": str(REPOSITORY)}, program)


def main(file: Path) -> None:
    passing = time.monotonic
    time.monotonic = lambda: passing() + SECONDS * file.exists()
    from hybridwrap.__main__ import main as hybridwrap

    hybridwrap()


if __name__ == "__main__":
    main(Path(sys.argv.pop(1)))
