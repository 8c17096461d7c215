"""What configuration reads besides itself, as far as its text tells; nothing is evaluated."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

# A match in a comment only widens what is found; that is why no parser is needed here.
_IN_FOLDER = re.compile(rb'\$\{\s*path\.(module|root|cwd)\s*\}/([^"$%\n]*)(["$%]?)')
_FILESET = re.compile(rb'\bfileset\(\s*(?:"\$\{\s*)?path\.(module|root|cwd)(?:\s*\}")?\s*,\s*"([^"$%\n]+)"')
_BY_NAME = re.compile(rb'\b(?:file[a-z0-9]*|templatefile)\(\s*"([^"$%\n]+)(["$%]?)')
_BY_LOCAL = re.compile(rb"\b(?:file[a-z0-9]*|templatefile)\([^\n]*?\blocal\.([A-Za-z_][\w-]*)")
_LOCAL = re.compile(
    rb'^[ \t]*(?:locals[ \t]*\{)?[ \t]*([A-Za-z_][\w-]*)[ \t]*=[ \t]*"([^"$%\n]+)(["$%]?)', re.MULTILINE
)
_FOLDER = re.compile(rb"\bpath\.(module|root|cwd)\b")
_WILD = re.compile(r"[*?\[{]")


def places_read(module: Path, root: Path, text: bytes) -> Iterator[Path]:
    """Name the files and folders that a configuration text reads; of a computed path the folder that is certain.

    `module` is the folder with all files of which this is the text, `root` that of its root module, where the engine
    runs. What is named need not be there. A folder counts with all below it.
    """
    here = {b"module": module, b"root": root, b"cwd": root}
    for whose, name, end in _IN_FOLDER.findall(text):
        yield _place(here[whose], os.fsdecode(name), whole=end == b'"')
    for whose, pattern in _FILESET.findall(text):
        yield _place(here[whose], _WILD.split(os.fsdecode(pattern))[0], whole=not _WILD.search(os.fsdecode(pattern)))
    for name, end in _BY_NAME.findall(text):
        yield _place(root, os.fsdecode(name), whole=end == b'"')
    for name, end in _texts_of_locals(text):
        yield _place(root, os.fsdecode(name), whole=end == b'"')
    for whose in _FOLDER.findall(_FILESET.sub(b"", _IN_FOLDER.sub(b"", text))):
        yield here[whose]


def _texts_of_locals(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """What locals say that a path to read is made of: `file(local.policy)`."""
    used = set(_BY_LOCAL.findall(text))
    return ((value, end) for name, value, end in _LOCAL.findall(text) if name in used)


def _place(folder: Path, name: str, *, whole: bool) -> Path:
    certain = name if whole else name.rpartition("/")[0]
    return Path(os.path.normpath(folder / certain))


def files_below(place: Path) -> Iterator[Path]:
    """Name a file, or all files of a folder but hidden ones and states, which runs make and change."""
    if place.is_file():
        yield place
        return
    for folder, below, names in os.walk(place):
        below[:] = [name for name in below if not name.startswith(".")]
        yield from (Path(folder, name) for name in names if not name.startswith(".") and ".tfstate" not in name)
