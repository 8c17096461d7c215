"""Variable files: the user's own values for a module's variables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hybridwrap.adapters.source import automatic_var_files
from hybridwrap.domain.inputs import Given
from hybridwrap.domain.json import Json, loads
from hybridwrap.domain.stack import Module
from hybridwrap.errors import InvalidManifest, Problem


def read_var_file(path: Path, name: str) -> Mapping[str, Json]:
    """Read the values that a file sets; one that is no literal is None. Raise InvalidManifest with places in `name`."""
    from hybridwrap.adapters import hcl

    if not path.name.endswith(".json"):
        return {n: a.value if a.literal else None for n, a in hcl.read(path, name).attributes.items()}
    try:
        values = loads(path.read_bytes())
    except OSError as error:
        raise InvalidManifest([Problem(name, 0, 0, "", f"cannot be read: {error.strerror}")]) from error
    except ValueError as error:
        raise InvalidManifest([Problem(name, 0, 0, "", f"not JSON: {error}")]) from error
    if not isinstance(values, dict):
        raise InvalidManifest([Problem(name, 1, 1, "", "must be a JSON object")])
    return values


def given_values(module: Module, root: Path) -> dict[str, Given]:
    """Read all variable files that the engine will load for a module; the later one wins. Raise InvalidManifest."""
    given: dict[str, Given] = {}
    for path in (*automatic_var_files(module.source), *module.var_files):
        shown = shown_path(path, root)
        given |= {name: Given(value, shown) for name, value in read_var_file(path, shown).items()}
    return given


def shown_path(path: Path, root: Path) -> str:
    """A path for people: relative to the manifest's folder when it lies there."""
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
