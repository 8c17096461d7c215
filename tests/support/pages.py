"""Transcripts in the documentation: each is played by a scene and compared with what the page shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from getpass import getuser
from pathlib import Path

from tests.support.project import Project
from tools.transcripts import as_reader, lasting

DOCS = Path(__file__).parents[2] / "docs"
HOME = "/home/ana/shop"


Check = Callable[[str, "Screen"], None]


@dataclass
class Screen:
    """Commands as they are typed in a project, and what they print."""

    project: Project
    lines: list[str] = field(default_factory=list)

    def type(self, line: str) -> str:
        """Run `hybridwrap …`; return what it printed."""
        process = self.start(line)
        return self.until_it_ends(process)

    def note(self, line: str, printed: str, code: int) -> None:
        """Take down what was typed and printed elsewhere."""
        self.lines += [f"$ {line}\n", printed, f"exit code {code}\n" if code else ""]

    def start(self, line: str) -> subprocess.Popen[str]:
        self.lines.append(f"$ {line}\n")
        return subprocess.Popen(
            [sys.executable, "-m", *shlex.split(line)],
            cwd=self.project.root,
            env={**self.project.env, "TZ": "UTC"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def until_it_ends(self, process: subprocess.Popen[str]) -> str:
        printed, _ = process.communicate(timeout=300)
        self.lines.append(printed)
        if process.returncode:
            self.lines.append(f"exit code {process.returncode}\n")
        return printed

    @property
    def text(self) -> str:
        name, host = re.escape(getuser()), re.escape(os.uname().nodename)
        shown = "".join(self.lines).replace(str(self.project.root), HOME)
        shown = re.sub(rf"\b{name}@{host}\b", "ana@laptop", shown)
        shown = re.sub(rf"\b{name}( +)on {host}\b", "ana on laptop", shown)
        shown = re.sub(rf"(events\.jsonl|state\.tfstate) on {host}\b", r"\1 on laptop", shown)
        return as_reader("".join(f"{line.rstrip()}\n" for line in shown.splitlines()))


def shown(scene: str) -> str:
    """What the page of a scene shows for it."""
    return _block(scene).search(_page(scene).read_text())["shown"]  # type: ignore[index]


def refresh(scene: str, screen: Screen) -> None:
    """Put what was played into the page, unless what it shows is still true."""
    if lasting(shown(scene)) != lasting(screen.text):
        text = _page(scene).read_text()
        found = _block(scene).search(text)
        assert found
        _page(scene).write_text(text[: found.start("shown")] + screen.text + text[found.end("shown") :])


def _page(scene: str) -> Path:
    """The one page that has a place for it."""
    (page,) = (page for page in DOCS.glob("*.md") if _block(scene).search(page.read_text()))
    return page


def _block(scene: str) -> re.Pattern[str]:
    return re.compile(
        rf"^<!-- played by {re.escape(scene)} -->\n+```console\n(?P<shown>.*?)^```$", re.MULTILINE | re.DOTALL
    )
