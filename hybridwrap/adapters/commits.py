"""Which commit a module's source is of."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from hybridwrap.adapters.source import GENERATED, digest_with_folders, lock_digest, source_digest
from hybridwrap.domain.entry import Source


class _Tree(Struct, frozen=True):
    """A repository: its commit, the paths that differ from it, and all folders above those."""

    commit: str = ""
    changed: frozenset[Path] = frozenset()
    above: frozenset[Path] = frozenset()

    def has_changes(self, folder: Path) -> bool:
        """Whether something differs in a folder, or the folder itself lies in what does."""
        return folder in self.above or not self.changed.isdisjoint((folder, *folder.parents))


class Commits:
    """Answers which commit a folder is of; asks git once for each repository."""

    def __init__(self) -> None:
        self._trees: dict[Path, _Tree] = {}
        self._roots: dict[Path, Path | None] = {}

    def commit(self, folder: Path) -> str:
        """The commit, "" when the folder is in no repository or has changes that are not committed."""
        root = self._root(folder)
        if root is None:
            return ""
        if root not in self._trees:
            self._trees[root] = _git_tree(root)
        tree = self._trees[root]
        return "" if tree.has_changes(folder) else tree.commit

    def _root(self, folder: Path) -> Path | None:
        """The repository's folder; those of a stack have most of their way up in common."""
        if folder not in self._roots:
            above = self._root(folder.parent) if folder != folder.parent else None
            self._roots[folder] = folder if (folder / ".git").exists() else above
        return self._roots[folder]


def _git_tree(root: Path) -> _Tree:
    """Ask for the commit and the paths that differ from it."""
    argv = ["git", "--no-optional-locks", "-C", str(root), "status", "--porcelain=v2", "--branch", "-z", "--no-renames"]
    try:
        done = subprocess.run(argv, capture_output=True, check=True, timeout=30, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):  # no git, or none that answers: then no commit is claimed
        return _Tree()
    records = [os.fsdecode(record) for record in done.stdout.split(b"\0")]
    commit = next((r.removeprefix("# branch.oid ") for r in records if r.startswith("# branch.oid ")), "")
    changed = [r.split(" ", 8)[8] for r in records if r.startswith("1 ")]
    changed += [r.split(" ", 10)[10] for r in records if r.startswith("u ")]
    changed += [r[2:] for r in records if r.startswith("? ") and not r.endswith(GENERATED)]
    paths = frozenset(root / path for path in changed)
    above = frozenset(folder for path in paths for folder in path.parents)
    return _Tree(commit.replace("(initial)", ""), paths, above)


def fingerprint_of(folder: Path, watch: Sequence[str] = ()) -> Source:
    """Describe a module's source by digests alone; no process is started."""
    return Source(source_digest(folder, watch), lock=lock_digest(folder))


def source_of(folder: Path, commits: Commits, watch: Sequence[str] = ()) -> Source:
    """Describe a module's source for the ledger."""
    digest, folders = digest_with_folders(folder, watch)
    found = {commits.commit(module) for module in folders}
    return Source(digest, lock=lock_digest(folder), git=found.pop() if len(found) == 1 else "")
