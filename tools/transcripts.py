"""`python -m tools.transcripts`: run the README's five-minute start and show what it prints today.

A block ```sh is run, the block ```text behind it shows what was printed. Blocks that are still true stay as they are.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from getpass import getuser
from pathlib import Path
from tempfile import TemporaryDirectory

README = Path(__file__).parents[1] / "README.md"
SECTION = re.compile(r"^## Five minutes\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
STEP = re.compile(r"^```sh\n(?P<script>.*?)^```$.*?^```text\n(?P<shown>.*?)^```$", re.MULTILINE | re.DOTALL)
CHANGING = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{8,26}\b|\b[0-9a-f]{8}\b|\d+([.:]\d+)*")  # ids, hexadecimal ids, numbers
READER, HOME = "ana", "/home/ana/shop"
STEERING = ("AWS_", "HYBRIDWRAP_", "TF_")


def steps() -> Iterator[tuple[str, str]]:
    """Each script of the section with what the page says that it prints."""
    for section in SECTION.findall(README.read_text()):
        for step in STEP.finditer(section):
            yield step["script"], step["shown"]


def run(script: str, folder: Path) -> str:
    """Run a script in a folder as a reader would; raise CalledProcessError when it fails."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(STEERING)}
    programs = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", os.defpath)])
    ran = subprocess.run(
        [str(shutil.which("bash")), "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={**kept, "PATH": programs},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
        timeout=120,
    )
    lines = as_reader(ran.stdout.replace(str(folder), HOME)).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def as_reader(printed: str) -> str:
    """Put the page's user in the place of this one; columns keep their width where the names allow it."""
    name = getuser()
    return re.sub(rf"\b{re.escape(name)}\b( *)", lambda found: READER.ljust(len(name)) + found[1], printed)


def lasting(output: str) -> list[str]:
    """The lines without ids, times, counts and the width of columns: what stays the same from run to run."""
    return [" ".join(CHANGING.sub("#", line).split()) for line in output.splitlines() if line.strip()]


def refreshed(page: str, folder: Path) -> str:
    """Run all steps in a folder and return the page with what they print."""

    def as_printed(step: re.Match[str]) -> str:
        printed = run(step["script"], folder)
        if lasting(printed) == lasting(step["shown"]):
            return step[0]
        return f"{step[0].removesuffix(step['shown'] + '```')}{printed}```"

    return SECTION.sub(lambda section: STEP.sub(as_printed, section[0]), page)


if __name__ == "__main__":
    with TemporaryDirectory() as temporary:
        README.write_text(refreshed(README.read_text(), Path(temporary)))
