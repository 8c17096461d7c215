"""Which modules read the state of which others by a `terraform_remote_state` of their own: edges that need no word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from hybridwrap.adapters.engine.backend import place_of
from hybridwrap.adapters.manifest.scope import Scope
from hybridwrap.adapters.manifest.states import Places
from hybridwrap.adapters.manifest.var_files import given_values
from hybridwrap.adapters.remote_states import WORKSPACE, Unknown, value_of
from hybridwrap.domain.json import Json
from hybridwrap.domain.stack import Literal, Module, StateRead
from hybridwrap.domain.state import StatePlace
from hybridwrap.errors import InvalidManifest

Reads = Mapping[str, Mapping[str, str]]  # reader -> module that is read -> where, file:line


def find_reads(modules: Mapping[str, Module], places: Places, scope: Scope) -> Reads:
    """Find the edges of kind `state`. A state in a place that nobody but the engine can tell makes none."""
    root = scope.root.resolve()
    owners = {spot(place): name for name, place in places.items()}
    found: dict[str, dict[str, str]] = {}
    for name, module in modules.items():
        for read, place in _places(module, root):
            owner = owners.get(spot(place))
            if owner and owner != name:
                found.setdefault(name, {}).setdefault(owner, read.shown)
    return found


def _places(module: Module, root: Path) -> Iterator[tuple[StateRead, StatePlace]]:
    reads = module.interface.state_reads
    values = _values(module, root) if any(read.expressions for read in reads) else {}
    for read in reads:
        place = place_read(read, values, module.source.resolve(), root)
        if place:
            yield read, place


def place_read(read: StateRead, values: Mapping[str, Json], source: Path, root: Path) -> StatePlace | None:
    """Name the place that a module in the folder `source` reads, None where that can't be told.

    `values` has `var.x` and `terraform.workspace`.
    """
    known = {f"var.{name}": value for name, value in read.defaults.items()} | dict(values)
    try:
        told = {name: value_of(text, known) for name, text in read.expressions.items() if _matters(name)}
    except Unknown:
        return None
    workspace = told.pop("workspace", read.workspace)
    place = place_of(read.backend, {**read.settings, **told}, workspace, source, root)
    return place if place.path and (place.bucket or place.backend != "s3") else None


def _matters(setting: str) -> bool:
    """Whether a setting is part of a place; a region or a profile that is a variable is not."""
    return setting not in {"region", "profile", "role_arn", "encrypt", "endpoint", "endpoints", "assume_role"}


def _values(module: Module, root: Path) -> dict[str, Json]:
    """The values of a module's variables that are known before it is run."""
    try:
        given = {name: one.value for name, one in given_values(module, root).items()}
    except InvalidManifest:  # said where variable files are checked
        given = {}
    written = {name: _written(module, name) for name in module.inputs}
    return {f"var.{name}": value for name, value in (given | written).items()} | {
        WORKSPACE: module.workspace or "default"
    }


def _written(module: Module, name: str) -> Json:
    source = module.inputs[name]
    return source.tree if isinstance(source, Literal) and not source.references else None


def spot(place: StatePlace) -> tuple[str, ...]:
    """What tells places apart, however they were named: a workspace is part of the path in S3 and in files."""
    named = (place.backend, place.bucket, place.path)
    return named if place.backend in ("s3", "local") else (*named, place.workspace)
