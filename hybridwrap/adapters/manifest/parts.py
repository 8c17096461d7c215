"""The files of a manifest: its own, and those that it includes, one for each folder or team."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from hybridwrap.adapters.manifest.node import Findings, Node, dotted
from hybridwrap.adapters.manifest.reading import parse, read_bytes
from hybridwrap.errors import InvalidManifest


class Part(Struct, frozen=True):
    """One file as read; `shown` is its name in messages, and in the marks of its nodes."""

    file: Path
    shown: str
    data: bytes
    node: Node


class Files(Struct, frozen=True):
    """A manifest, and what it includes in the order of the file names."""

    main: Part
    included: tuple[Part, ...] = ()

    @property
    def all(self) -> tuple[Part, ...]:
        return (self.main, *self.included)

    @property
    def folders(self) -> dict[str, Path]:
        """Where each file lies, by its name in marks."""
        return {part.shown: part.file.parent for part in self.all}


def read_files(file: Path) -> Files:
    """Read a manifest with all that it includes.

    Raise UsageError when the file itself cannot be read, InvalidManifest with everything wrong with any text.
    """
    main = read_main(file)
    findings = Findings()
    included = []
    for path in _included(main, findings):
        try:
            included.append(read_main(path))
        except InvalidManifest as error:
            findings.take(error.problems)
    if findings.errors:
        raise InvalidManifest(findings.errors)
    return Files(main, tuple(included))


def read_main(file: Path) -> Part:
    """Read one file alone. Raise as `read_files` does."""
    shown, data = shown_name(file), read_bytes(file)
    return Part(file, shown, data, parse(data, shown))


def includes(main: Part) -> list[Path]:
    """Name the files that a manifest includes."""
    return _included(main, Findings())


def _included(main: Part, findings: Findings) -> list[Path]:
    include = main.node.get("include")
    found: set[Path] = set()
    for at, pattern in enumerate(include.items if include else ()):
        if isinstance(pattern.value, str):  # else the schema says so
            files = set(_matching(pattern.value, main.file.parent)) - {main.file}
            if not files:
                findings.error(pattern.mark, dotted(("include", at)), f"no file matches {pattern.value}")
            found |= files
    return sorted(found)


def _matching(pattern: str, root: Path) -> Iterator[Path]:
    """The files that a pattern means, relative to a folder; hidden ones only where the pattern names them."""
    for name in glob.iglob(pattern, root_dir=root, recursive=True):  # noqa: PTH207 - a Path's glob takes hidden ones
        path = Path(os.path.normpath(root / name))
        if path.is_file():
            yield path


def shown_name(file: Path) -> str:
    """A file's name in messages: relative when it lies here or below."""
    shown = os.path.relpath(file)
    return str(file) if shown.startswith("..") else shown
