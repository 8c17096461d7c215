"""What a root module says of itself, as far as a manifest has to know: variables, state, whose states it reads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec
from msgspec import Struct

from hybridwrap.adapters.engine.backend import place_of
from hybridwrap.adapters.hcl import Block, read
from hybridwrap.adapters.introspection import introspect
from hybridwrap.adapters.manifest.var_files import read_var_file
from hybridwrap.adapters.scaffold.conventions import NAME
from hybridwrap.adapters.source import VAR_SUFFIXES, automatic_var_files, config_files
from hybridwrap.adapters.state_file import worth_keeping
from hybridwrap.domain.json import Json, loads
from hybridwrap.domain.stack import BackendBlock, Interface, Variable
from hybridwrap.domain.state import StatePlace
from hybridwrap.errors import InvalidManifest

LOCAL_STATE = "terraform.tfstate"
NOTHING: Mapping[str, Json] = MappingProxyType({})
SHOWN = ("bucket", "container_name", "key", "prefix", "workspace_key_prefix", "region")  # of a backend
NEEDED = {"s3": ("bucket", "key"), "gcs": ("bucket",), "azurerm": ("container_name", "key")}


class RootModule(Struct, frozen=True):
    """One root module, as it lies there."""

    path: Path
    interface: Interface = msgspec.field(default_factory=Interface)
    descriptions: Mapping[str, str] = {}  # of variables
    given: frozenset[str] = frozenset()  # variables with a value in a file that the engine loads by itself
    var_files: tuple[str, ...] = ()  # others beside it
    has_local_state: bool = False
    workspaces: tuple[str, ...] = ()  # that left something here
    last_init: Mapping[str, Json] = {}  # settings of its backend, on this machine
    providers: bool = False
    problem: str = ""  # why it could not be read

    @property
    def is_local(self) -> bool:
        return self.interface.backend is None or self.interface.backend.type == "local"

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
        has_local_state=worth_keeping(path / LOCAL_STATE),
        workspaces=tuple(_workspaces(path)),
        last_init=_last_init(path / ".terraform" / LOCAL_STATE),
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


def place_of_state(
    module: RootModule, root: Path, more: Mapping[str, Json] = NOTHING, workspace: str = "default"
) -> StatePlace | None:
    """Where a module keeps its state, `more` being what completes its block; None where that can't be known here."""
    if module.interface.cloud or module.problem:
        return None
    block = module.interface.backend or BackendBlock("local")
    settings = {**block.settings, **more}
    known = {name: value for name, value in settings.items() if value != "..."}
    if not is_complete(block, more) or any(name not in known for name in NEEDED.get(block.type, ())):
        return None
    if block.type == "local" and known != settings:
        return None
    place = place_of(block.type, known, workspace, module.path, root)
    return place if place.path else None


def is_complete(block: BackendBlock, more: Mapping[str, Json]) -> bool:
    """Whether a block, and what is given to `init`, say all that a backend must know."""
    return all(name in block.settings or name in more for name in NEEDED.get(block.type, ()))


def _workspaces(path: Path) -> Iterator[str]:
    """Workspaces that left something beside the code; the default one only where others did and it holds something."""
    folder = path / "terraform.tfstate.d"
    found = sorted(file.parent.name for file in folder.glob("*/terraform.tfstate")) if folder.is_dir() else []
    selected = path / ".terraform" / "environment"
    if selected.is_file():
        found.append(selected.read_text(encoding="utf-8", errors="replace").strip())
    others = [name for name in dict.fromkeys(found) if NAME.fullmatch(name) and name != "default"]
    if others and worth_keeping(path / LOCAL_STATE):
        yield "default"
    yield from others


def _last_init(file: Path) -> Mapping[str, Json]:
    """What the engine noted of a backend when it was last initialised here; what may be a secret is left out."""
    try:
        settings = loads(file.read_bytes())["backend"]["config"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return {name: settings[name] for name in SHOWN if settings.get(name)}
