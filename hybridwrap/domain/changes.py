"""What has changed since a commit, and which modules that concerns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

from msgspec import Struct

SHOWN = 12  # digits of a commit


class Base(Struct, frozen=True):
    """The commit that a working copy is compared with; `told` says which one that is, for people."""

    commit: str
    told: str

    def __str__(self) -> str:
        return f"{self.commit[:SHOWN]} ({self.told})"


class Changed(Struct, frozen=True):
    """By module why it counts as changed, the files first; `gone` were declared then and are not now."""

    base: Base
    modules: Mapping[str, tuple[str, ...]]
    gone: tuple[str, ...] = ()


class Footprint(Struct, frozen=True):
    """All paths that make a module, real ones: files as they are, folders with what an engine loads, whole trees."""

    files: frozenset[str]
    folders: frozenset[str]
    trees: frozenset[str]
    globs: tuple[str, ...] = ()


class ChangedFile(Struct, frozen=True):
    """A path that differs from a commit; that of a submodule or another repository stands for all below it."""

    path: str
    loaded: bool = False  # by its name an engine loads it from the folder of a module
    whole: bool = False


def reasons(footprint: Footprint, changed: Iterable[ChangedFile]) -> Iterator[str]:
    """Yield the changed paths that concern a module."""
    for file in changed:
        if _concerns(footprint, file):
            yield file.path


def _concerns(footprint: Footprint, file: ChangedFile) -> bool:
    above = list(_above(file.path))
    if file.path in footprint.files or not footprint.trees.isdisjoint((file.path, *above)):
        return True
    if file.loaded and above and above[0] in footprint.folders:
        return True
    if any(fnmatchcase(file.path, pattern) for glob in footprint.globs for pattern in (glob, glob.replace("**/", ""))):
        return True
    return file.whole and any(
        part == file.path or part.startswith(f"{file.path}/")
        for part in (*footprint.files, *footprint.folders, *footprint.trees)
    )


def _above(path: str) -> Iterator[str]:
    """The folders that a path lies in, the nearest first."""
    while path := path.rpartition("/")[0]:
        yield path
