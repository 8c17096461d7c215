"""`python -m tools.transcripts`: let the README show what the demo and its five-minute start print today.

A block ```sh is run, the block ```text behind it shows what was printed; the page's first block ```text is the demo's
failed run and the way out of it. Blocks that are still true stay as they are.
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

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PICTURE = re.compile(r"^```text\n(?P<shown>.*?)^```$", re.MULTILINE | re.DOTALL)
APPLY = re.compile(r"^\$ hybridwrap apply.*?\n(?=\n)", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^## Five minutes\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
STEP = re.compile(r"^```sh\n(?P<script>.*?)^```$.*?^```text\n(?P<shown>.*?)^```$", re.MULTILINE | re.DOTALL)
UUID = r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
MOMENT = r"\b(?:\d{4}-\d\d-\d\d )?\d\d:\d\d(?::\d\d)?\b"  # with its day as soon as that is yesterday
SPAN = r"\b(?:\d+[dhm])*(?:\d+[hm]\d\d|\d+(?:\.\d+)?[dhms])\b"  # 9.9s, 1m02, 1h30m
CHANGING = re.compile(  # ids, times, numbers, bars
    rf"{UUID}|\b[0-9A-HJKMNP-TV-Z]{{8,26}}\b|\b[0-9a-f]{{8,64}}\b|{MOMENT}|{SPAN}|\d+([.:]\d+)*|[─━]+"
)
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
        env={**kept, "PATH": programs, "TZ": "UTC"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
        timeout=120,
    )
    lines = as_reader(ran.stdout.replace(str(folder), HOME)).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def picture_of(played: str) -> str:
    """Cut the failed run, and the one that repairs it, out of what the demo printed."""
    runs: list[str] = APPLY.findall(as_reader(played))
    return "\n".join(runs[1:3])


def play() -> str:
    """Run the demo; raise CalledProcessError when it fails."""
    demo = [sys.executable, "-m", "demo"]
    return subprocess.run(
        demo,
        cwd=ROOT,
        env={**os.environ, "TZ": "UTC"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    ).stdout


def as_reader(printed: str) -> str:
    """Put the page's user in the place of this one; columns keep their width where the names allow it."""
    name = getuser()
    return re.sub(rf"\b{re.escape(name)}\b( *)", lambda found: READER.ljust(len(name)) + found[1], printed)


def lasting(output: str) -> list[str]:
    """The lines without ids, times, counts and the width of columns and bars: what stays the same from run to run."""
    return [" ".join(CHANGING.sub("#", line).split()) for line in output.splitlines() if line.strip()]


def refreshed(page: str, played: str, folder: Path) -> str:
    """Return the page with what the demo printed and what the steps print when they are run in a folder."""
    page = PICTURE.sub(lambda block: _with(block, picture_of(played)), page, count=1)
    return SECTION.sub(
        lambda section: STEP.sub(lambda step: _with(step, run(step["script"], folder)), section[0]), page
    )


def _with(block: re.Match[str], printed: str) -> str:
    if lasting(printed) == lasting(block["shown"]):
        return block[0]
    return f"{block[0].removesuffix(block['shown'] + '```')}{printed}```"


if __name__ == "__main__":
    with TemporaryDirectory() as temporary:
        README.write_text(refreshed(README.read_text(), play(), Path(temporary)))
