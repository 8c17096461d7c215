"""The files of a root module: which an engine loads, their digest, and the commit that they are of."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from hybridwrap.domain.entry import Source

GENERATED = "hybridwrap_override.tf.json"  # our own empty backend block, the same everywhere
LOCK_FILE = ".terraform.lock.hcl"
SUFFIXES = (".tf", ".tf.json", ".tofu", ".tofu.json")

# A match in a comment only widens the digest; that is why no parser is needed here.
LOCAL_CHILD = re.compile(rb"""["']?\bsource["']?\s*[=:]\s*"(\.\.?/[^"$%]*)\"""")
READ_FILE = re.compile(rb"\$\{path\.module\}/([^\"$%]+)\"")


def config_files(folder: Path, *, tofu: bool) -> tuple[Path, ...]:
    """Name the files that the engine loads, in the order in which it does: overrides last.

    OpenTofu takes `x.tofu` instead of `x.tf`; Terraform knows no `.tofu`. Our generated file is left out.
    """
    names = {entry.name for entry in os.scandir(folder) if entry.is_file() and _is_config(entry.name)}
    if tofu:
        names -= {name.replace(".tofu", ".tf") for name in names if ".tofu" in name}
    else:
        names = {name for name in names if ".tofu" not in name}
    return tuple(folder / name for name in sorted(names, key=lambda name: (is_override(name), name)))


def is_override(name: str) -> bool:
    stem = name.removesuffix(".json").rpartition(".")[0]
    return stem == "override" or stem.endswith("_override")


def _is_config(name: str) -> bool:
    return name.endswith(SUFFIXES) and not name.startswith((".", "#")) and name != GENERATED


def automatic_var_files(folder: Path) -> tuple[Path, ...]:
    """Name the variable files that an engine loads by itself, the weakest first."""
    names = [entry.name for entry in os.scandir(folder) if entry.name.endswith((".tfvars", ".tfvars.json"))]
    own = [name for name in ("terraform.tfvars", "terraform.tfvars.json") if name in names]
    automatic = sorted(name for name in names if name.endswith((".auto.tfvars", ".auto.tfvars.json")))
    return tuple(folder / name for name in (*own, *automatic))


def source_digest(folder: Path) -> str:
    """Digest what makes the module: its files, those of local child modules, those that they read by a literal path.

    The same in every checkout: names go in relative to the folder. Files that are read by a computed path are not seen.
    """
    contents = {}
    for module in _closure(folder):
        for file in _all_config(module):
            contents[file] = file.read_bytes()
            contents |= {read: read.read_bytes() for read in _files_read(module, contents[file])}
    return _digest((os.path.relpath(file, folder), data) for file, data in contents.items())


def lock_digest(folder: Path) -> str:
    """Digest the dependency lock file, "" when there is none."""
    file = folder / LOCK_FILE
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


def fingerprint(folders: Iterable[Path], files: Iterable[Path]) -> str:
    """Digest all that is read to check a manifest: files, and the configuration and variable files of folders."""
    found = {file for folder in set(folders) if folder.is_dir() for file in _all_config(folder)}
    found |= {file for folder in set(folders) if folder.is_dir() for file in automatic_var_files(folder)}
    found |= {file for file in files if file.is_file()}
    return _digest((str(file), file.read_bytes()) for file in found)


def _digest(contents: Iterable[tuple[str, bytes]]) -> str:
    total = hashlib.sha256()
    for name, data in sorted(contents):
        total.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogateescape") + data)
    return total.hexdigest()


def _all_config(folder: Path) -> list[Path]:
    return [Path(entry.path) for entry in os.scandir(folder) if _is_config(entry.name) and entry.is_file()]


def _closure(folder: Path) -> list[Path]:
    """The folder and, transitively, those of its local child modules."""
    found = [folder]
    for module in found:
        for file in _all_config(module):
            children = (module / os.fsdecode(name) for name in LOCAL_CHILD.findall(file.read_bytes()))
            found += [
                path for child in children if (path := Path(os.path.normpath(child))) not in found and path.is_dir()
            ]
    return found


def _files_read(module: Path, text: bytes) -> Iterator[Path]:
    for name in READ_FILE.findall(text):
        path = module / os.fsdecode(name)
        if path.is_file():
            yield path


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
    changed += [r[2:] for r in records if r.startswith("? ")]
    return commit.replace("(initial)", ""), tuple(root / path for path in changed)


def source_of(folder: Path, commits: Commits) -> Source:
    """Describe a module's source for the ledger."""
    closure = _closure(folder)
    found = {commits.commit(module) for module in closure}
    return Source(source_digest(folder), found.pop() if len(found) == 1 else "")
