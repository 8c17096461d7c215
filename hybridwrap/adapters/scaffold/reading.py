"""What a root module says of itself, as far as a manifest has to know: variables, state, whose states it reads."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from hybridwrap.adapters.engine.backend import place_of
from hybridwrap.adapters.hcl import Attribute, Block, read
from hybridwrap.adapters.introspection import introspect
from hybridwrap.adapters.manifest.var_files import read_var_file
from hybridwrap.adapters.source import VAR_SUFFIXES, automatic_var_files, config_files
from hybridwrap.adapters.state_file import parse_state
from hybridwrap.domain.json import Json
from hybridwrap.domain.stack import BackendBlock, Interface, Variable
from hybridwrap.domain.state import StatePlace
from hybridwrap.errors import InvalidManifest, StateUnreadable

LOCAL_STATE = "terraform.tfstate"
_SETTING = re.compile(r'([A-Za-z_]\w*)\s*[=:]\s*"([^"$%]*)"')  # one that is written out, in an object that is not
_NEEDED = {"s3": ("bucket", "key"), "gcs": ("bucket",), "azurerm": ("container_name", "key")}


class RemoteState(Struct, frozen=True):
    """A `terraform_remote_state` of a module; `place` is None where it is not written out."""

    name: str
    place: StatePlace | None
    shown: str  # file:line


class RootModule(Struct, frozen=True):
    """One root module; its `place` is where its own code keeps the state, None where that is not settled there."""

    path: Path
    interface: Interface = msgspec.field(default_factory=Interface)
    descriptions: Mapping[str, str] = {}  # of variables
    given: frozenset[str] = frozenset()  # variables with a value in a file that the engine loads by itself
    var_files: tuple[str, ...] = ()  # others beside it
    place: StatePlace | None = None
    has_local_state: bool = False
    reads: tuple[RemoteState, ...] = ()
    providers: bool = False
    problem: str = ""  # why it could not be read

    @property
    def missing(self) -> tuple[Variable, ...]:
        return tuple(v for v in self.interface.variables.values() if v.required and v.name not in self.given)


def read_root_module(path: Path, root: Path, *, tofu: bool) -> RootModule:
    """Read a module's source; `root` is the manifest's folder to be."""
    shown = os.path.relpath(path, root)
    try:
        interface = introspect(path, shown, tofu=tofu)
        blocks = [(file.name, read(file, f"{shown}/{file.name}")) for file in config_files(path, tofu=tofu)]
        given = frozenset(name for file in automatic_var_files(path) for name in read_var_file(file, file.name))
    except InvalidManifest as error:
        return RootModule(path, problem=str(error.problems[0]))
    return RootModule(
        path=path,
        interface=interface,
        descriptions=dict(_descriptions(blocks)),
        given=given,
        var_files=tuple(sorted(_other_var_files(path))),
        place=_own_place(interface, path, root),
        has_local_state=_has_objects(path / LOCAL_STATE),
        reads=tuple(_remote_states(blocks, path, root)),
        providers=any(True for _, block in blocks for _ in block.named("provider")),
    )


def _descriptions(blocks: list[tuple[str, Block]]) -> Iterator[tuple[str, str]]:
    for _, root in blocks:
        for variable in root.named("variable"):
            text = variable.value("description")
            if isinstance(text, str) and variable.labels:
                yield variable.labels[0], " ".join(text.split())


def _other_var_files(path: Path) -> Iterator[str]:
    automatic = {file.name for file in automatic_var_files(path)}
    return (e.name for e in os.scandir(path) if e.name.endswith(VAR_SUFFIXES) and e.name not in automatic)


def _own_place(interface: Interface, path: Path, root: Path) -> StatePlace | None:
    if interface.cloud:
        return None
    block = interface.backend or BackendBlock("local")
    return _place(block.type, block.settings, path, root)


def _remote_states(blocks: list[tuple[str, Block]], path: Path, root: Path) -> Iterator[RemoteState]:
    for file, block in blocks:
        for data in block.named("data"):
            if data.labels[:1] == ("terraform_remote_state",):
                shown = f"{os.path.relpath(path / file, root)}:{data.line}"
                yield RemoteState(data.labels[-1], _read_place(data, path, root), shown)


def _read_place(data: Block, path: Path, root: Path) -> StatePlace | None:
    kind, workspace = data.value("backend"), data.attributes.get("workspace")
    if not isinstance(kind, str) or (workspace and workspace.value != "default"):
        return None
    return _place(kind, _settings(data.attributes.get("config")), path, root)


def _settings(config: Attribute | None) -> Mapping[str, Json]:
    """The settings that are written out, in an object of which others may not be."""
    if config is None:
        return {}
    if config.literal:
        return config.value if isinstance(config.value, dict) else {}
    return dict(_SETTING.findall(config.text))


def _place(kind: str, settings: Mapping[str, Json], path: Path, root: Path) -> StatePlace | None:
    """The place that settings mean, if they are enough to know it."""
    known = {name: value for name, value in settings.items() if value != "..."}
    if any(name not in known for name in _NEEDED.get(kind, ())) or (kind == "local" and known != dict(settings)):
        return None
    place = place_of(kind, known, "default", path, root)
    return place if place.path else None


def _has_objects(file: Path) -> bool:
    """Whether a state is worth keeping in its place; one that can't be read may be."""
    if not file.is_file():
        return False
    try:
        state = parse_state(file.read_bytes(), str(file))
    except StateUnreadable:
        return True
    return bool(state.instances or state.outputs or not state.readable)
