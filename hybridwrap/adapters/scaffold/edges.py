"""Who reads whose state, as far as the files tell, in any of the environments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from hybridwrap.adapters.manifest.state_reads import place_read, spot
from hybridwrap.adapters.manifest.var_files import read_var_file
from hybridwrap.adapters.remote_states import WORKSPACE
from hybridwrap.adapters.scaffold.draft import Draft, Read
from hybridwrap.adapters.scaffold.evidence import settings_in
from hybridwrap.adapters.scaffold.reading import place_of_state
from hybridwrap.adapters.source import automatic_var_files
from hybridwrap.domain.json import Json
from hybridwrap.domain.state import StatePlace
from hybridwrap.errors import InvalidManifest


def with_reads(draft: Draft) -> Draft:
    """Find out which states are read; an owner is named where it is one in every environment of the reader."""
    places = dict(_places(draft))
    found = {name: tuple(_reads(draft, name, places)) for name in draft.certain}
    return replace(draft, reads=found)


def _places(draft: Draft) -> Iterator[tuple[tuple[str, ...], str]]:
    for name in draft.certain:
        for environment in _environments(draft, name):
            if place := place_in(draft, name, environment):
                yield spot(place), name


def _environments(draft: Draft, name: str) -> tuple[str, ...]:
    return tuple(sorted(draft.where(name))) or ("",)


def place_in(draft: Draft, name: str, environment: str) -> StatePlace | None:
    """Where a module keeps its state in an environment, None where that can't be known here."""
    evidence = draft.of(name)
    more: dict[str, Json] = {}
    for files in evidence.backend_files:
        path = files.found.get(environment) or files.found.get("")
        more |= settings_in(path) if path else {}
    workspace = environment if evidence.by_workspace else "default"
    return place_of_state(draft.modules[name], draft.root, more, workspace)


def _reads(draft: Draft, name: str, places: Mapping[tuple[str, ...], str]) -> Iterator[Read]:
    module = draft.modules[name]
    values = {environment: _values(draft, name, environment) for environment in _environments(draft, name)}
    for read in module.interface.state_reads:
        found = [place_read(read, known, module.path, draft.root) for known in values.values()]
        owners = {places.get(spot(place), "") if place else "" for place in found}
        owner = owners.pop() if len(owners) == 1 else ""
        yield Read(read, owner, found[0])


def _values(draft: Draft, name: str, environment: str) -> dict[str, Json]:
    """What is known of a module's variables in an environment."""
    evidence, module = draft.of(name), draft.modules[name]
    own = [files.found.get(environment) or files.found.get("") for files in evidence.var_files]
    values: dict[str, Json] = {}
    for path in (*automatic_var_files(module.path), *own):
        try:
            values |= read_var_file(path, path.name) if path else {}
        except InvalidManifest:  # validate says so
            continue
    workspace = environment if evidence.by_workspace else "default"
    return {f"var.{variable}": value for variable, value in values.items()} | {WORKSPACE: workspace}
