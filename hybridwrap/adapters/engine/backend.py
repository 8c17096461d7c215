"""The backend of a module: its own block, completed or not, or the one that we generate for it.

The generated file holds an empty block and is the same for every environment: the settings are given to `init`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from hybridwrap.adapters import hcl
from hybridwrap.adapters.engine.layout import Layout, relative
from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.stack import Module
from hybridwrap.domain.state import StatePlace
from hybridwrap.errors import PreflightRefused

# What a block must say to be complete. Any other type is the user's own, with `backend_config`.
_ESSENTIAL = {"local": ("path",), "s3": ("bucket", "key")}
_CREDENTIALS = ("access_key", "secret_key", "token", "sse_customer_key")

IN_PLACE = {"path": "terraform.tfstate", "workspace_dir": "terraform.tfstate.d"}  # beside the code

# How backends name the two parts of a place.
_CONTAINERS = ("bucket", "container_name", "storage_account_name", "resource_group_name")
_PATHS = ("key", "prefix", "path", "address", "schema_name", "secret_suffix")


class Backend(Struct, frozen=True):
    """`arguments` and `files` complete the block at `init`; `settings` are known before it, None when not all are."""

    type: str
    arguments: Mapping[str, str] = {}
    files: tuple[Path, ...] = ()
    generated: bytes | None = None  # what the generated file must hold; None: there must be none
    settings: Mapping[str, Json] | None = None


def settle_backend(module: Module, layout: Layout) -> Backend:
    """Decide where a module keeps its state. Raise PreflightRefused when that is not clear or not safe."""
    block = module.interface.backend
    if module.interface.cloud:
        raise PreflightRefused(
            f'module "{module.name}" has a `cloud` block: its runs happen elsewhere, and can\'t be recorded here',
            hint='replace the block by `backend "s3" {}` or `backend "remote" {}`, and migrate the state once',
        )
    if block is None and _stays(module, layout):
        return Backend("local", settings=IN_PLACE)
    if block is None:
        return _ours(module, module.state.backend, {}, layout, generated=_empty_block(module.state.backend))
    missing = [name for name in _ESSENTIAL.get(block.type, ()) if name not in block.settings]
    if missing and block.type == module.state.backend:
        return _ours(module, block.type, block.settings, layout, generated=None)
    if missing and not module.backend_config:
        raise PreflightRefused(
            f'{block.file}:{block.line}  backend "{block.type}" of module "{module.name}" lacks {", ".join(missing)}',
            hint=f"write them there, or into a file named in `backend_config`, or into `state: {{{block.type}: …}}`",
        )
    return Backend(block.type, files=module.backend_config, settings=_known(block.settings, module.backend_config))


def _stays(module: Module, layout: Layout) -> bool:
    """Whether the state lies where the engine puts it by itself, and no block is needed.

    With a block Terraform would take the workspaces that are there for those of another backend, and ask to migrate.
    """
    if module.state.backend != "local" or module.backend_config or not module.state.settings.get("path"):
        return False
    return _local(module, layout) == IN_PLACE


def place_of(kind: str, settings: Mapping[str, Json], workspace: str, source: Path, root: Path) -> StatePlace:
    """Name the place that a backend's settings mean, for a module whose source lies in `source`."""
    match kind:
        case "local":
            return StatePlace(kind, relative(local_file(settings, workspace, source), root), workspace=workspace)
        case "s3":
            return StatePlace(kind, object_key(settings, workspace), str(settings.get("bucket", "")), workspace)
    found = {name: str(settings[name]) for name in (*_CONTAINERS, *_PATHS) if settings.get(name)}
    containers = "/".join(found[name] for name in _CONTAINERS if name in found)
    return StatePlace(kind, "/".join(found[name] for name in _PATHS if name in found), containers, workspace)


def local_file(settings: Mapping[str, Json], workspace: str, source: Path) -> Path:
    """The file of a local backend, whose settings are relative to the module's folder, also where that is gone."""
    if workspace == "default":
        file = source / str(settings.get("path") or "terraform.tfstate")
    else:
        file = source / str(settings.get("workspace_dir") or "terraform.tfstate.d") / workspace / "terraform.tfstate"
    return file if source.is_dir() else Path(os.path.normpath(file))


def object_key(settings: Mapping[str, Json], workspace: str) -> str:
    key = str(settings.get("key", ""))
    prefix = settings.get("workspace_key_prefix") or "env:"
    return key if workspace == "default" else f"{prefix}/{workspace}/{key}"


def _ours(module: Module, kind: str, block: Mapping[str, Json], layout: Layout, *, generated: bytes | None) -> Backend:
    """Complete a block by what the manifest says."""
    wanted = _local(module, layout) if kind == "local" else module.state.settings
    secret = [name for name in _CREDENTIALS if name in wanted]
    if secret:
        raise PreflightRefused(
            f'`state` of module "{module.name}" holds {", ".join(secret)}: every process on this host could read it',
            hint="give credentials by the environment: AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        )
    added = {name: value for name, value in sorted(wanted.items()) if name not in block}
    known = _known({**added, **block}, module.backend_config)
    return Backend(
        kind, {name: _as_argument(value) for name, value in added.items()}, module.backend_config, generated, known
    )


def _local(module: Module, layout: Layout) -> dict[str, Json]:
    """Settings of a local backend, relative to the module's folder: in the manifest a path is relative to itself."""
    given = module.state.settings
    file = layout.root / str(given["path"]) if given.get("path") else layout.state_file(module.name)
    workspaces = layout.root / str(given["workspace_dir"]) if given.get("workspace_dir") else Path(f"{file}.d")
    source = module.source.resolve()
    return {"path": relative(file, source), "workspace_dir": relative(workspaces, source)}


def _known(settings: Mapping[str, Json], files: tuple[Path, ...]) -> Mapping[str, Json] | None:
    """All settings, when all are literal; files come last, as the engine takes them."""
    known = dict(settings)
    for file in files:
        known |= {name: a.value for name, a in hcl.read(file, str(file)).attributes.items()}
    return None if "..." in known.values() else known


def _as_argument(value: Json) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case dict() | list():
            # an expression of the engine's language, in which `${` and `%{` would begin a template
            return canonical(value).decode().replace("${", "$${").replace("%{", "%%{")
    return str(value)


def _empty_block(kind: str) -> bytes:
    return canonical({"terraform": {"backend": {kind: {}}}}) + b"\n"
