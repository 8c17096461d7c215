"""The five-minute start of the README works as written, in an empty folder, and prints what it shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CHANGING = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}|\d+([.:]\d+)*|[0-9a-f]{8}-[0-9a-f-]{27}")  # ids, times, counts


def blocks_of_section(title: str) -> list[tuple[str, str]]:
    section = README.read_text().partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return [(kind, text) for kind, text in BLOCK.findall(section)]


def run(script: str, folder: Path) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "HYBRIDWRAP_", "TF_"))}
    programs = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", os.defpath)])
    ran = subprocess.run(
        [str(shutil.which("bash")), "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={**kept, "PATH": programs},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stdout
    return ran.stdout


def lasting(output: str) -> list[str]:
    """The lines of an output with what changes from run to run, and the width of columns, left out."""
    return [" ".join(CHANGING.sub("#", line).split()) for line in output.splitlines() if line.strip()]


@pytest.mark.e2e
def test_the_five_minute_start_prints_what_the_readme_shows(tmp_path: Path) -> None:
    blocks = blocks_of_section("Five minutes")
    assert {kind for kind, _ in blocks} == {"sh", "text"}
    printed = ""
    for kind, text in blocks:
        if kind == "sh":
            printed = run(text, tmp_path)
        else:
            assert lasting(printed) == lasting(text)
