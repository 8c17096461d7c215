"""In which environments a root module is, by the files and workspaces beside it; what can't be known here is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.adapters.hcl import read
from hybridwrap.adapters.manifest.var_files import read_var_file
from hybridwrap.adapters.scaffold.conventions import (
    BACKEND_FILES,
    LONE_BACKEND_FILES,
    VAR_FILES,
    Files,
    conventional,
    folders_up,
    matching,
)
from hybridwrap.adapters.scaffold.reading import RootModule, is_complete
from hybridwrap.domain.json import Json
from hybridwrap.errors import InvalidManifest

LISTED = "`terraform workspace list` shows them"


class Patterns(Struct, frozen=True):
    """What the user said that files are called; nothing said: what is usual."""

    var_files: Sequence[str] = ()
    backend_config: Sequence[str] = ()


class Evidence(Struct, frozen=True):
    """No environments: there is one state, whatever the environment."""

    environments: frozenset[str] = frozenset()
    var_files: tuple[Files, ...] = ()
    backend_files: tuple[Files, ...] = ()
    by_workspace: bool = False
    remarks: tuple[str, ...] = ()


def evidence_of(module: RootModule, root: Path, patterns: Patterns) -> Evidence:
    if module.problem:
        return Evidence()
    found = Evidence(
        var_files=tuple(_var_files(module, root, patterns.var_files)),
        backend_files=tuple(_backend_files(module, root, patterns.backend_config)),
    )
    told_apart = frozenset(name for files in found.backend_files for name in files.environments)
    named = frozenset(name for files in found.var_files for name in files.environments)
    if told_apart:
        return replace(found, environments=told_apart, remarks=_without(named - told_apart, "has no backend file"))
    if module.workspaces:
        return _in_workspaces(found, module, named)
    return _by_names(found, module, named)


def _in_workspaces(found: Evidence, module: RootModule, named: frozenset[str]) -> Evidence:
    seen = frozenset(module.workspaces)
    if module.is_local:
        return replace(found, environments=seen, by_workspace=True, remarks=_without(named - seen, "has no workspace"))
    remark = f"workspaces seen on this machine: {', '.join(module.workspaces)}; others can't be seen here: {LISTED}"
    return replace(found, environments=seen | named, by_workspace=True, remarks=(remark,))


def _by_names(found: Evidence, module: RootModule, named: frozenset[str]) -> Evidence:
    """Only variable files speak of environments: what tells the states apart is a guess, or not needed yet."""
    if not named:
        return found
    block = module.interface.backend
    if module.is_local and module.has_local_state:
        remark = f"one state, and variable files for {', '.join(sorted(named))}: name the one that it was made with"
        return replace(found, var_files=(), remarks=(remark,))
    if block is None or not is_complete(block, {}):
        return replace(found, environments=named)
    remark = f"that each environment is a workspace is a guess: they can't be seen here; {LISTED}"
    return replace(found, environments=named, by_workspace=True, remarks=(remark,))


def _without(names: frozenset[str], what: str) -> tuple[str, ...]:
    return (f"left out: {', '.join(sorted(names))} {what}",) if names else ()


def _var_files(module: RootModule, root: Path, said: Sequence[str]) -> Iterator[Files]:
    if said:
        yield from filter(None, (matching(pattern, module.path, root) for pattern in said))
        return
    for files in conventional(VAR_FILES, folders_up(module.path, root), module.path, root):
        if any(_is_for(module, path) for path in files.found.values()):
            yield files
            return


def _is_for(module: RootModule, file: Path) -> bool:
    """Whether a file gives a value to a variable that the module declares."""
    try:
        return bool(read_var_file(file, file.name).keys() & module.interface.variables.keys())
    except InvalidManifest:
        return False


def _backend_files(module: RootModule, root: Path, said: Sequence[str]) -> Iterator[Files]:
    block = module.interface.backend
    if block is None or is_complete(block, {}):
        return
    if said:
        yield from filter(None, (matching(pattern, module.path, root) for pattern in said))
        return
    folders = folders_up(module.path, root)
    for files in conventional(BACKEND_FILES, folders, module.path, root):
        if all(is_complete(block, settings_in(path)) for path in files.found.values()):
            yield files
            return
    yield from _lone_file(module, root, folders)


def _lone_file(module: RootModule, root: Path, folders: Sequence[Path]) -> Iterator[Files]:
    """The only file near a module that completes its block."""
    block = module.interface.backend
    for folder in folders:
        paths = [path for pattern in LONE_BACKEND_FILES for path in sorted(folder.glob(pattern)) if path.is_file()]
        fitting = [path for path in paths if block and is_complete(block, settings_in(path))]
        if len(fitting) == 1 == len(paths):
            yield Files(str(fitting[0].relative_to(root)), {"": fitting[0]})
            return


def settings_in(file: Path) -> Mapping[str, Json]:
    """The settings that a file for `init -backend-config` has written out; none where it can't be read."""
    try:
        return {name: a.value for name, a in read(file, file.name).attributes.items()}
    except InvalidManifest:
        return {}
