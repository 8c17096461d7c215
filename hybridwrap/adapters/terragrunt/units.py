"""Terragrunt's units, as `terragrunt render --all --json --write` leaves them, one file in the folder of each.

The form is that of `terragrunt.rendered.json` (since 0.77) and of `terragrunt_rendered.json` (`render-json`, before);
with `--with-metadata` each value is wrapped, with the file that it was found in.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from hybridwrap.adapters.terragrunt.shape import misshapen
from hybridwrap.domain.json import Json, loads
from hybridwrap.errors import UsageError

NAMES = ("terragrunt.rendered.json", "terragrunt_rendered.json")
RENDER = "terragrunt render --all --json --write"
_PASSED = frozenset({".terragrunt-cache", ".terraform", ".git", "node_modules"})


class Unit(Struct, frozen=True):
    """One unit; `tree` is its rendered configuration without metadata."""

    folder: Path
    tree: Mapping[str, Json]
    found_in: Mapping[str, Path] = {}  # files in which inputs were found, as far as that was rendered, too

    def block(self, *path: str) -> Mapping[str, Json]:
        """An object in the configuration, empty where there is none."""
        found: Json = self.tree
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else {}

    def text(self, name: str) -> str:
        found = self.tree.get(name)
        return found if isinstance(found, str) else ""


def read_units(place: Path) -> tuple[Unit, ...]:
    """Read the units of a folder, of one rendered file, or those of `terragrunt find --json`. Raise UsageError."""
    files = sorted(_below(place)) if place.is_dir() else list(_named(place))
    if not files:
        raise UsageError(f"no {NAMES[0]} in {place} or below it", hint=RENDER)
    return tuple(_unit(file) for file in files)


def _below(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - _PASSED)
        found = next((name for name in NAMES if name in files), None)
        if found:
            yield Path(where) / found


def _named(file: Path) -> Iterator[Path]:
    found = _json(file)
    if isinstance(found, dict):
        yield file
        return
    for item in found if isinstance(found, list) else ():
        if not isinstance(item, dict) or "path" not in item:
            raise UsageError(f"{file} is neither a rendered unit nor what `terragrunt find --json` prints", hint=RENDER)
        if item.get("type", "unit") == "unit":
            folder = file.parent / str(item["path"])
            yield next((folder / name for name in NAMES if (folder / name).is_file()), folder / NAMES[0])


def _unit(file: Path) -> Unit:
    found = _json(file)
    if not isinstance(found, dict):
        raise UsageError(f"{file} is no rendered unit: it must hold an object", hint=RENDER)
    folder = Path(os.path.abspath(file.parent))  # noqa: PTH100  # symbolic links stay as they are
    tree = {name: _bare(value) for name, value in found.items()}
    if wrong := list(misshapen(tree)):
        raise UsageError(f"{file} is no rendered unit: {'; '.join(wrong)}", hint=RENDER)
    return Unit(folder, tree, dict(_found_in(found.get("inputs"))))


def _json(file: Path) -> Json:
    try:
        return loads(file.read_bytes())
    except OSError as error:
        raise UsageError(f"{file} can't be read: {error.strerror}", hint=RENDER) from error
    except ValueError as error:
        raise UsageError(f"{file} is no JSON: {error}", hint=RENDER) from error


def _bare(value: Json) -> Json:
    """A value without the metadata around it, or around each of its members."""
    if _is_wrapped(value):
        return value["value"]
    if isinstance(value, dict):
        return {name: inner["value"] if _is_wrapped(inner) else inner for name, inner in value.items()}
    return [inner["value"] if _is_wrapped(inner) else inner for inner in value] if isinstance(value, list) else value


def _is_wrapped(value: Json) -> bool:
    return isinstance(value, dict) and value.keys() == {"metadata", "value"}


def _found_in(inputs: Json) -> Iterator[tuple[str, Path]]:
    for name, value in inputs.items() if isinstance(inputs, dict) else ():
        metadata = value["metadata"] if _is_wrapped(value) else None
        if isinstance(metadata, dict) and isinstance(metadata.get("found_in_file"), str):
            yield name, Path(metadata["found_in_file"])
