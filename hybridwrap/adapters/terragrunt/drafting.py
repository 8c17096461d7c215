"""From Terragrunt's units to the modules of a manifest."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from hybridwrap.adapters.introspection import introspect
from hybridwrap.adapters.scaffold.naming import module_names, usable
from hybridwrap.adapters.source import automatic_var_files, config_files
from hybridwrap.adapters.terragrunt.counterparts import Loss, is_left_out, losses
from hybridwrap.adapters.terragrunt.hooks import hooks_of, lost_hooks
from hybridwrap.adapters.terragrunt.states import Kept, kept_state
from hybridwrap.adapters.terragrunt.tracing import Traced, traced_inputs
from hybridwrap.adapters.terragrunt.units import Unit
from hybridwrap.domain.json import Json
from hybridwrap.domain.stack import Interface
from hybridwrap.errors import InvalidManifest, UsageError

_REGISTRY = re.compile(r"tfr://(?P<host>[^/]*)/(?P<module>[^?]+)\?version=(?P<version>[^&]+)")
_REMOTE = re.compile(r"[a-z0-9]+::.*|[a-z0-9+.-]+://.*|git@.*|(github|bitbucket)\.(com|org)/.*")


class Drafted(Struct, frozen=True):
    """One unit as a module; `interface` is None where its source can't be read here."""

    unit: Unit
    source: str
    state: Kept
    version: str = ""  # of a source in a registry
    interface: Interface | None = None
    inputs: Mapping[str, Json] = {}
    traced: Mapping[str, Traced] = {}
    dependencies: Mapping[str, str] = {}  # name of a dependency -> module, "" for one that is not here
    after: tuple[str, ...] = ()  # modules that come first without giving a value
    var_files: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    hooks: Mapping[str, list[list[str]]] = {}
    left_out: bool = False
    losses: tuple[Loss, ...] = ()
    undeclared: tuple[str, ...] = ()


class Estate(Struct, frozen=True):
    """All units by the names of their modules."""

    stack: str
    root: Path
    modules: Mapping[str, Drafted]
    program: str = ""
    version: str = ""


def draft_units(units: Sequence[Unit], root: Path, stack: str) -> Estate:
    """Draft the modules of a manifest in the folder `root`. Raise UsageError for a unit that lies elsewhere."""
    for unit in units:
        if not unit.folder.is_relative_to(root):
            raise UsageError(f"{unit.folder} does not lie below {root}, where the manifest would be")
    names = module_names([unit.folder for unit in units], root)
    modules = {names[unit.folder]: _drafted(unit, names, root) for unit in units}
    programs = {Path(unit.text("terraform_binary")).name for unit in units} - {""}
    versions = {unit.text("terraform_version_constraint") for unit in units} - {""}
    return Estate(
        stack or usable(root.name, "stack"),
        root,
        modules,
        program=programs.pop() if len(programs) == 1 else "",
        version=versions.pop() if len(versions) == 1 else "",
    )


def _drafted(unit: Unit, names: Mapping[Path, str], root: Path) -> Drafted:
    written = unit.block("terraform").get("source")
    folder = _folder(unit, written)
    source, version = (os.path.relpath(folder, root), "") if folder else _remote(str(written))
    interface = _interface(folder, source) if folder else None
    dependencies = {name: names.get(path, "") for name, path in _dependencies(unit)}
    inputs = unit.block("inputs")
    known = {n: v for n, v in inputs.items() if interface is None or n in interface.variables}
    paths = unit.tree.get("dependencies")
    others = paths.get("paths") if isinstance(paths, dict) else paths
    after = (names.get(_resolved(unit, str(path)), "") for path in others or [])
    return Drafted(
        unit=unit,
        source=source,
        version=version,
        state=Kept() if _keeps_its_own(unit, interface) else kept_state(unit, root, has_source=bool(written)),
        interface=interface,
        inputs=known,
        traced=traced_inputs(unit),
        dependencies=dependencies,
        after=tuple(name for name in dict.fromkeys(after) if name),
        var_files=tuple(os.path.relpath(path, root) for path in _var_files(unit, folder)),
        env=dict(_env(unit)),
        left_out=is_left_out(unit),
        hooks=hooks_of(unit, root),
        losses=(
            *losses(unit, remote=folder is None),
            *lost_hooks(unit),
            *_overlaid(unit, folder),
            *_outside(dependencies),
        ),
        undeclared=tuple(sorted(set(inputs) - set(known))),
    )


def _remote(source: str) -> tuple[str, str]:
    """A source elsewhere as a module block has it; `tfr://HOST/MODULE?version=…` is Terragrunt's own way to say it."""
    found = _REGISTRY.fullmatch(source)
    if not found:
        return source, ""
    return "/".join(part for part in (found["host"], found["module"]) if part), found["version"]


def _folder(unit: Unit, source: Json) -> Path | None:
    """The folder that a unit's configuration lies in, None for one elsewhere; `//` only says where a copy begins."""
    if not isinstance(source, str) or not source:
        return unit.folder
    return None if _REMOTE.fullmatch(source) else _resolved(unit, source.partition("?")[0].replace("//", "/"))


def _keeps_its_own(unit: Unit, interface: Interface | None) -> bool:
    """Whether the module's own block says where its state lies, and Terragrunt nothing."""
    return not unit.block("remote_state") and interface is not None and interface.backend is not None


def _resolved(unit: Unit, path: str) -> Path:
    return Path(os.path.normpath(unit.folder / path))


def _interface(folder: Path, shown: str) -> Interface | None:
    try:
        return introspect(folder, shown, tofu=True)
    except (InvalidManifest, FileNotFoundError, NotADirectoryError):
        return None  # validate says so


def _dependencies(unit: Unit) -> Iterator[tuple[str, Path]]:
    for name, block in unit.block("dependency").items():
        if isinstance(block, dict) and isinstance(block.get("config_path"), str) and block.get("enabled") is not False:
            yield name, _resolved(unit, block["config_path"])


def _outside(dependencies: Mapping[str, str]) -> Iterator[Loss]:
    for name, module in dependencies.items():
        if not module:
            yield Loss(f'dependency "{name}" is not among these units', "render it, too, or give its values yourself")


def _overlaid(unit: Unit, folder: Path | None) -> Iterator[Loss]:
    """Files of the unit's own folder, which Terragrunt copies over the module."""
    if folder == unit.folder or not unit.folder.is_dir():
        return
    files = [path.name for path in config_files(unit.folder, tofu=True)]
    if files:
        yield Loss(f"{', '.join(files)} in the unit's folder", "move them to the module that they belong to")
    if (unit.folder / ".terraform.lock.hcl").is_file():
        yield Loss("a lock file in the unit's folder", "move it to the module, whose units then share it")


def _var_files(unit: Unit, folder: Path | None) -> Iterator[Path]:
    if folder != unit.folder and unit.folder.is_dir():
        yield from automatic_var_files(unit.folder)
    for block in unit.block("terraform", "extra_arguments").values():
        if isinstance(block, dict) and {"plan", "apply"} & set(block.get("commands") or ()):
            named = [*(block.get("optional_var_files") or []), *(block.get("required_var_files") or [])]
            named += [w.removeprefix("-var-file=") for w in block.get("arguments") or [] if w.startswith("-var-file=")]
            yield from (path for path in (_resolved(unit, name) for name in named) if path.is_file())


def _env(unit: Unit) -> Iterator[tuple[str, str]]:
    for block in unit.block("terraform", "extra_arguments").values():
        for name, value in (block.get("env_vars") or {}).items() if isinstance(block, dict) else ():
            if not name.startswith("TF_"):
                yield name, str(value)
