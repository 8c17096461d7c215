"""The five-minute start of the README works as written, in an empty folder, and prints what it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hybridwrap.cli.main import COMMANDS
from tools.transcripts import README, lasting, run, steps


@pytest.mark.e2e
def test_the_five_minute_start_prints_what_the_readme_shows(tmp_path: Path) -> None:
    three = list(steps())
    assert len(three) == 3
    for script, shown in three:
        assert lasting(run(script, tmp_path)) == lasting(shown), "next: make docs"


def test_the_readme_names_every_command() -> None:
    section = README.read_text().partition("\n## Commands\n")[2].partition("\n## ")[0]
    rows = "\n".join(line for line in section.splitlines() if line.startswith("|"))
    named = {name.split()[0] for name in re.findall(r"`([a-z ]+)`", rows)}
    assert named == {name.split()[0] for name in COMMANDS}
