"""The files of a root module: which of them an engine loads, and their digests."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from glob import iglob
from pathlib import Path

from hybridwrap.adapters.reads import files_below, places_read

GENERATED = "hybridwrap_override.tf.json"  # our own empty backend block, the same everywhere
LOCK_FILE = ".terraform.lock.hcl"
SUFFIXES = (".tf", ".tf.json", ".tofu", ".tofu.json")
VAR_SUFFIXES = (".tfvars", ".tfvars.json")

# A match in a comment only widens the digest; that is why no parser is needed here.
LOCAL_CHILD = re.compile(rb"""["']?\bsource["']?\s*[=:]\s*"(\.\.?/[^"$%]*)\"""")
READ_FILE = re.compile(rb"\$\{path\.module\}/([^\"$%]+)\"")
LARGE = 1 << 20  # bytes: of a larger file that is read besides the configuration the size has to do


def config_files(folder: Path, *, tofu: bool) -> tuple[Path, ...]:
    """Name the files that the engine loads, in the order in which it does: overrides last.

    OpenTofu takes `x.tofu` instead of `x.tf`; Terraform knows no `.tofu`. Our generated file is left out.
    """
    names = {entry.name for entry in os.scandir(folder) if entry.is_file() and is_config(entry.name)}
    if tofu:
        names -= {name.replace(".tofu", ".tf") for name in names if ".tofu" in name}
    else:
        names = {name for name in names if ".tofu" not in name}
    return tuple(folder / name for name in sorted(names, key=lambda name: (is_override(name), name)))


def is_override(name: str) -> bool:
    stem = name.removesuffix(".json").rpartition(".")[0]
    return stem == "override" or stem.endswith("_override")


def is_config(name: str) -> bool:
    """Whether some engine loads a file of this name."""
    return name.endswith(SUFFIXES) and not name.startswith((".", "#")) and name != GENERATED


def automatic_var_files(folder: Path) -> tuple[Path, ...]:
    """Name the variable files that an engine loads by itself, the weakest first."""
    names = [entry.name for entry in os.scandir(folder) if entry.name.endswith(VAR_SUFFIXES)]
    own = [name for name in ("terraform.tfvars", "terraform.tfvars.json") if name in names]
    automatic = sorted(name for name in names if name.endswith((".auto.tfvars", ".auto.tfvars.json")))
    return tuple(folder / name for name in (*own, *automatic))


def source_digest(folder: Path, watch: Sequence[str] = ()) -> str:
    """Digest what makes the module: its files, those of local child modules, those that they read, and watched ones.

    The same in every checkout: names go in relative to the folder. Of a path that is computed the folder counts that is
    certain, unless that is the module's own or one above it. `watch` are absolute glob patterns.
    """
    return digest_with_folders(folder, watch)[0]


def digest_with_folders(folder: Path, watch: Sequence[str] = ()) -> tuple[str, tuple[Path, ...]]:
    """The same, and what `closure` names: each file is read once for both."""
    contents: dict[Path, bytes] = {}
    folders: list[Path] = []
    for module, own in _with_children(folder):
        folders.append(module)
        contents |= own
        for place in places_read(module, folder, b"\n".join(own.values())):
            if place != module and place not in module.parents:
                contents |= {read: _content(read) for read in files_below(place)}
    contents |= {file: _content(file) for file in watched(watch)}
    return _digest((os.path.relpath(file, folder), data) for file, data in contents.items()), tuple(folders)


def watched(patterns: Iterable[str]) -> Iterator[Path]:
    """Name the files that absolute glob patterns match; `**` is any number of folders."""
    for pattern in patterns:
        yield from (path for path in map(Path, iglob(pattern, recursive=True)) if path.is_file())  # noqa: PTH207


def _content(file: Path) -> bytes:
    size = file.stat().st_size
    return file.read_bytes() if size <= LARGE else f"{size} bytes".encode()


def lock_digest(folder: Path) -> str:
    """Digest the dependency lock file, "" when there is none."""
    file = folder / LOCK_FILE
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


def fingerprint(folders: Iterable[Path], files: Iterable[Path]) -> str:
    """Digest all that is read to check a manifest: files, and the configuration and variable files of folders.

    Plain strings, not paths: this runs at every start, over every file of a stack.
    """
    found = {str(file) for file in files if file.is_file()}
    for folder in set(folders):
        if folder.is_dir():
            with suppress(OSError):  # whoever reads it for good says what is wrong
                found.update(e.path for e in os.scandir(folder) if is_config(e.name) or e.name.endswith(VAR_SUFFIXES))
    return _digest((name, _read(name)) for name in found)


def _read(name: str) -> bytes:
    try:
        with open(name, "rb", buffering=0) as file:  # noqa: PTH123  # twice as fast as by a Path
            return file.read()
    except IsADirectoryError:
        return b""
    except OSError as error:  # whoever reads it for good says what is wrong
        return f"{error.strerror}".encode()


def _digest(contents: Iterable[tuple[str, bytes]]) -> str:
    total = hashlib.sha256()
    for name, data in sorted(contents):
        total.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogateescape") + data)
    return total.hexdigest()


def all_config(folder: Path) -> list[Path]:
    """Name the files that some engine loads, but our generated one."""
    return [Path(entry.path) for entry in os.scandir(folder) if is_config(entry.name) and entry.is_file()]


def closure(folder: Path) -> list[Path]:
    """Name the folder and, transitively, those of its local child modules."""
    return [module for module, _ in _with_children(folder)]


def _with_children(folder: Path) -> Iterator[tuple[Path, dict[Path, bytes]]]:
    """The folder and, transitively, those of its local child modules, each with its configuration files."""
    found = [folder]
    for module in found:
        own = {file: file.read_bytes() for file in all_config(module)}
        yield module, own
        names = (name for text in own.values() for name in LOCAL_CHILD.findall(text))
        children = (Path(os.path.normpath(module / os.fsdecode(name))) for name in names)
        found += [path for path in dict.fromkeys(children) if path not in found and path.is_dir()]


def files_read(folders: Iterable[Path]) -> Iterator[Path]:
    """Name the files that the modules in these folders read by a literal path."""
    for module in folders:
        for file in all_config(module):
            yield from _files_read(module, file.read_bytes())


def _files_read(module: Path, text: bytes) -> Iterator[Path]:
    for name in READ_FILE.findall(text):
        path = module / os.fsdecode(name)
        if path.is_file():
            yield path
