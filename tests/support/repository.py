"""A git repository in a folder, as its author and a CI system have it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

IDENTITY = ("-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false")
FILES = ("-c", "protocol.file.allow=always")  # clones and submodules from a path


@dataclass(frozen=True, slots=True)
class Checkout:
    root: Path

    def git(self, *words: str) -> str:
        argv = ["git", *IDENTITY, *FILES, "-C", str(self.root), *words]
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def commit(self, subject: str = "a change") -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", subject)
        return self.git("rev-parse", "HEAD")

    def clone(self, target: Path, *words: str) -> Checkout:
        self.git("clone", "--quiet", *words, f"file://{self.root}", str(target))
        return Checkout(target)


def repository(root: Path) -> Checkout:
    """An empty one, on `main`."""
    root.mkdir(parents=True, exist_ok=True)
    made = Checkout(root)
    made.git("init", "--quiet", "--initial-branch=main")
    return made
