"""Which folders hold root modules, and which of those may as well be libraries that nobody calls from here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from hybridwrap.adapters.source import automatic_var_files, closure, config_files
from hybridwrap.errors import UsageError

LEFT_OUT = frozenset({"example", "examples", "test", "tests", "testdata", "fixtures", "node_modules", "vendor"})
LIBRARIES = frozenset({"module", "modules"})  # folders in which most people keep modules that others call

FROM_TERRAGRUNT = "terragrunt render --all --json --write && hybridwrap new --from-terragrunt FOLDER"


class Found(Struct, frozen=True):
    """Folders, sorted: those with root modules, and what was passed by because of its name."""

    roots: tuple[Path, ...]
    left_out: tuple[Path, ...] = ()
    terragrunt: bool = False  # whether units of Terragrunt lie there, too


def find_root_modules(folder: Path, *, tofu: bool) -> Found:
    """Find folders with configuration that no other one calls as a local child. Raise UsageError when there are none.

    Hidden folders are not looked into, those for examples and tests are only named.
    """
    left_out: list[Path] = []
    folders = list(_folders(folder, left_out))
    candidates = [path for path in folders if config_files(path, tofu=tofu)]
    terragrunt = any((path / "terragrunt.hcl").is_file() for path in folders)
    called = {child for path in candidates for child in closure(path) if child != path}
    roots = tuple(sorted(path for path in candidates if path not in called))
    if not roots:
        hint = FROM_TERRAGRUNT if terragrunt else "hybridwrap new FOLDER"
        raise UsageError(f"no root module in {folder} or below it", hint=hint)
    return Found(roots, tuple(sorted(left_out)), terragrunt)


def may_be_library(path: Path, folder: Path) -> bool:
    """Whether a root module has nothing of one: it lies among libraries, and nobody ever ran it or gave it values."""
    among_libraries = bool(LIBRARIES & set(path.relative_to(folder).parts[:-1]))
    return among_libraries and not (path / ".terraform.lock.hcl").exists() and not automatic_var_files(path)


def _folders(folder: Path, left_out: list[Path]) -> Iterator[Path]:
    """The folder and all below it that may hold root modules; links are not followed."""
    yield folder
    with os.scandir(folder) as entries:
        below = sorted(Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False))
    for path in below:
        if path.name in LEFT_OUT:
            left_out.append(path)
        elif not path.name.startswith("."):
            yield from _folders(path, left_out)
