"""Which commit a module's source is of."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from hybridwrap.adapters.source import GENERATED, closure, lock_digest, source_digest
from hybridwrap.domain.entry import Source


class Commits:
    """Answers which commit a folder is of; asks git once for each repository."""

    def __init__(self) -> None:
        self._trees: dict[Path, tuple[str, tuple[Path, ...]]] = {}

    def commit(self, folder: Path) -> str:
        """The commit, "" when the folder is in no repository or has changes that are not committed."""
        root = next((p for p in (folder, *folder.parents) if (p / ".git").exists()), None)
        if root is None:
            return ""
        if root not in self._trees:
            self._trees[root] = _git_tree(root)
        commit, changed = self._trees[root]
        clean = not any(path == folder or folder in path.parents or path in folder.parents for path in changed)
        return commit if clean else ""


def _git_tree(root: Path) -> tuple[str, tuple[Path, ...]]:
    """Ask for the commit and the paths that differ from it."""
    argv = ["git", "--no-optional-locks", "-C", str(root), "status", "--porcelain=v2", "--branch", "-z", "--no-renames"]
    try:
        done = subprocess.run(argv, capture_output=True, check=True, timeout=30, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):  # no git, or none that answers: then no commit is claimed
        return "", ()
    records = [os.fsdecode(record) for record in done.stdout.split(b"\0")]
    commit = next((r.removeprefix("# branch.oid ") for r in records if r.startswith("# branch.oid ")), "")
    changed = [r.split(" ", 8)[8] for r in records if r.startswith("1 ")]
    changed += [r.split(" ", 10)[10] for r in records if r.startswith("u ")]
    changed += [r[2:] for r in records if r.startswith("? ") and not r.endswith(GENERATED)]
    return commit.replace("(initial)", ""), tuple(root / path for path in changed)


def fingerprint_of(folder: Path, watch: Sequence[str] = ()) -> Source:
    """Describe a module's source by digests alone; no process is started."""
    return Source(source_digest(folder, watch), lock=lock_digest(folder))


def source_of(folder: Path, commits: Commits, watch: Sequence[str] = ()) -> Source:
    """Describe a module's source for the ledger."""
    found = {commits.commit(module) for module in closure(folder)}
    return replace(fingerprint_of(folder, watch), git=found.pop() if len(found) == 1 else "")
