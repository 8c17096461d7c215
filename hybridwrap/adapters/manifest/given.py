"""What the user's own variable files set, as far as names go."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hybridwrap.adapters.manifest.modules import Built, Draft, path_nodes
from hybridwrap.adapters.manifest.node import Node, dotted
from hybridwrap.adapters.manifest.scope import Scope
from hybridwrap.adapters.manifest.var_files import read_var_file, shown_path
from hybridwrap.adapters.source import automatic_var_files
from hybridwrap.errors import InvalidManifest


def check_var_files(built: Built, scope: Scope) -> dict[str, frozenset[str]]:
    """Say for each module which names its variable files set.

    A file that is absent or broken is an error; a name that no module of a file declares is a warning.
    """
    own: dict[Path, list[tuple[Draft, Node]]] = {}
    files: dict[str, list[Path]] = {}
    for name in built.interfaces:
        draft = built.drafts[name]
        files[name] = list(automatic_var_files(draft.source))
        for node, path in path_nodes(draft, "var_files", scope):
            own.setdefault(path, []).append((draft, node))
            files[name].append(path)
    names = {path: _names(path, scope) for path in {p for found in files.values() for p in found} if path.is_file()}
    for path, users in own.items():
        _check_file(path, users, names, built, scope)
    return {name: frozenset().union(*(names.get(path, ()) for path in found)) for name, found in files.items()}


def _names(path: Path, scope: Scope) -> frozenset[str]:
    try:
        return frozenset(read_var_file(path, shown_path(path, scope.root)))
    except InvalidManifest as error:
        scope.source_findings.take(error.problems)
        return frozenset()


def _check_file(
    path: Path,
    users: list[tuple[Draft, Node]],
    names: Mapping[Path, frozenset[str]],
    built: Built,
    scope: Scope,
) -> None:
    draft, node = users[0]
    shown, where = shown_path(path, scope.root), dotted((*draft.where, "var_files"))
    if path not in names:
        scope.source_findings.error(node.mark, where, f"no file {shown}")
        return
    declared = {name for user, _ in users for name in built.interfaces[user.name].variables}
    for name in sorted(names[path] - declared):
        message = f'{shown} sets "{name}", which no module that uses the file declares'
        scope.source_findings.warn(node.mark, where, message)
