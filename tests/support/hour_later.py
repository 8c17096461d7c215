"""hybridwrap for which an hour passes as soon as a file is there: `python -m tests.support.hour_later FILE WORDS…`.

So a time is up at the moment that a test chooses, whatever else this machine has to do. Another hour passes every few
seconds from then on, for who begins to wait only after the first one.
"""

from __future__ import annotations

import sys
import time
from math import inf
from pathlib import Path

from tests.support.project import Project

SECONDS = 3600
AGAIN_SECONDS = 3
REPOSITORY = Path(__file__).parents[2]


def with_an_hour_to_pass(project: Project, file: Path) -> Project:
    """The same project, for whose commands an hour is over once the file is there."""
    program = (sys.executable, "-m", "tests.support.hour_later", str(file))
    return Project(project.root, {**project.environ, "PYTHONPATH": str(REPOSITORY)}, program)


def main(file: Path) -> None:
    passing, seen = time.monotonic, inf

    def with_hours() -> float:
        nonlocal seen
        now = passing()
        if seen == inf and file.exists():
            seen = now
        return now + (SECONDS * (1 + (now - seen) // AGAIN_SECONDS) if now >= seen else 0)

    time.monotonic = with_hours
    from hybridwrap.__main__ import main as hybridwrap

    hybridwrap()


if __name__ == "__main__":
    main(Path(sys.argv.pop(1)))
