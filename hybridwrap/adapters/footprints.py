"""Which paths make a module: its configuration, that of its local child modules, and what they and it are given."""

from __future__ import annotations

import os
from pathlib import Path

from hybridwrap.adapters.reads import places_read
from hybridwrap.adapters.source import LOCK_FILE, all_config, automatic_var_files, closure, is_config, watched
from hybridwrap.domain.changes import Footprint
from hybridwrap.domain.stack import FromFile, Module


def footprint(module: Module) -> Footprint:
    """Name them all as real paths; a linked file by both its names."""
    folders = _folders(module)
    files, trees = {folder / LOCK_FILE for folder in folders[:1]}, set[Path]()
    for folder in folders:
        configuration = all_config(folder) if folder.is_dir() else []
        files.update(configuration)
        text = b"\n".join(file.read_bytes() for file in configuration)
        trees.update(places_read(folder, module.source, text))
    files.update(module.var_files, module.backend_config, watched(module.watch))
    files.update(source.path for source in module.inputs.values() if isinstance(source, FromFile))
    if folders and module.source.is_dir():
        files.update(automatic_var_files(module.source))
    return Footprint(
        frozenset(name for file in files for name in (_linked(file), os.path.realpath(file))),
        frozenset(map(os.path.realpath, folders)),
        frozenset(map(os.path.realpath, trees)),
        tuple(map(os.path.realpath, module.watch)),
    )


def _folders(module: Module) -> list[Path]:
    """None of a remote source: what is fetched of it changes by its entry in the manifest."""
    if module.origin:
        return []
    return closure(module.source) if module.source.is_dir() else [module.source]


def is_loaded(name: str) -> bool:
    """Whether an engine may load a file of this name from the folder of a root module."""
    own = name in ("terraform.tfvars", "terraform.tfvars.json")
    return own or is_config(name) or name.endswith((".auto.tfvars", ".auto.tfvars.json"))


def outside(found: Footprint, root: Path) -> str:
    """The first path of a module that is not below `root`, "" when all are."""
    paths = sorted((*found.files, *found.folders))
    return next((path for path in paths if not Path(path).is_relative_to(root)), "")


def _linked(file: Path) -> str:
    """The path of a file that may be a link itself, in its real folder."""
    return str(Path(os.path.realpath(file.parent)) / file.name)
