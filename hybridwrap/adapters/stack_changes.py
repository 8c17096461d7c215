"""Which modules of a stack have changed since a commit: by their files, and by their entries in the manifest."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from hybridwrap.adapters.footprints import footprint, is_loaded, outside
from hybridwrap.adapters.git import Repository
from hybridwrap.adapters.manifest.entries import Entry, differing, entries, include_patterns
from hybridwrap.domain.changes import Base, Changed, ChangedFile, reasons
from hybridwrap.domain.stack import Module, Stack
from hybridwrap.errors import InvalidManifest


def changed_since(stack: Stack, ref: str, environ: Mapping[str, str]) -> Changed:
    """Compare the working copy, with all that is not committed, with a commit. Raise UsageError."""
    repository = Repository(stack.root)
    base = repository.base(ref, environ)
    files = tuple(
        ChangedFile(str(repository.root / path), loaded=is_loaded(PurePosixPath(path).name), whole=whole)
        for path, whole in repository.changed(base)
    )
    before = _entries_at(repository, base, stack, environ)
    now = entries(stack.file, stack.environment, environ, _declared(stack))
    found = {
        name: tuple(dict.fromkeys((*_by_files(module, files, stack, repository), *_by_entry(name, before, now))))
        for name, module in stack.modules.items()
    }
    gone = tuple(sorted(set(before or ()) - set(now)))
    return Changed(base, {name: why for name, why in found.items() if why}, gone)


def _by_files(module: Module, files: tuple[ChangedFile, ...], stack: Stack, repository: Repository) -> Iterator[str]:
    found = footprint(module)
    root = os.path.realpath(stack.root)
    yield from (os.path.relpath(path, root) for path in reasons(found, files))
    if beyond := outside(found, repository.root):
        yield f"{os.path.relpath(beyond, root)} is not in this repository, so nobody can tell"


def _by_entry(name: str, before: Mapping[str, Entry] | None, now: Mapping[str, Entry]) -> Iterator[str]:
    entry = now[name]
    if before is None:
        yield f"{entry.file}: what was said of it then could not be read"
    elif name not in before:
        yield f"{entry.file}: new"
    else:
        yield from (f"{entry.file}: {field}" for field in differing(before[name], entry))


def _declared(stack: Stack) -> dict[str, frozenset[str]]:
    return {name: frozenset(module.interface.variables) for name, module in stack.modules.items()}


def _entries_at(
    repository: Repository, base: Base, stack: Stack, environ: Mapping[str, str]
) -> Mapping[str, Entry] | None:
    """The entries as they were; None when the manifest was there and can't be read."""
    path = os.path.relpath(os.path.realpath(stack.file), repository.root)
    with TemporaryDirectory(prefix="hybridwrap-") as folder:
        file = Path(folder) / path
        if not _lay_out(repository, base, path, Path(folder)):
            return {}
        try:
            patterns = include_patterns(file)
            for name in _included(repository, base, os.path.dirname(path), patterns):  # noqa: PTH120  # git's path
                _lay_out(repository, base, name, Path(folder))
            return entries(file, stack.environment, environ, _declared(stack))
        except InvalidManifest:
            return None


def _included(repository: Repository, base: Base, folder: str, patterns: tuple[str, ...]) -> Iterator[str]:
    """Files of a commit that the patterns may mean; rather one too many."""
    wanted = [os.path.normpath(f"{folder}/{pattern}").lstrip("/") for pattern in patterns]
    for name in repository.files_at(base) if wanted else ():
        if any(fnmatchcase(name, pattern) or fnmatchcase(name, pattern.replace("**/", "")) for pattern in wanted):
            yield name


def _lay_out(repository: Repository, base: Base, path: str, folder: Path) -> bool:
    data = repository.file_at(base, path)
    if data is None:
        return False
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(data)
    return True
