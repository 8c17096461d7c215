"""What the modules' sources declare, against what the manifest gives them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from hybridwrap.adapters.introspection import introspect
from hybridwrap.adapters.manifest.engines import takes_tofu
from hybridwrap.adapters.manifest.modules import Built, Draft, path_nodes
from hybridwrap.adapters.manifest.node import Mark, Node, dotted
from hybridwrap.adapters.manifest.scope import Scope, Where
from hybridwrap.adapters.manifest.types import mismatch
from hybridwrap.adapters.manifest.var_files import read_var_file, shown_path
from hybridwrap.adapters.manifest.wording import did_you_mean
from hybridwrap.adapters.source import automatic_var_files
from hybridwrap.domain.inputs import TF_VAR
from hybridwrap.domain.stack import Interface, Literal, Module
from hybridwrap.domain.version import parse_constraint
from hybridwrap.errors import InvalidManifest

REMOTE = re.compile(r"[a-z0-9]+::.*|[a-z0-9+.-]+://.*|git@.*|(github|bitbucket)\.(com|org)/.*|.*\?.*")


def read_interfaces(drafts: Mapping[str, Draft], scope: Scope) -> dict[str, Interface]:
    """Read each source once. A module whose source cannot be read is left out."""
    read: dict[tuple[Path, bool], Interface | None] = {}
    for draft in drafts.values():
        key = (draft.source, takes_tofu(draft.engine, scope.environ))
        if key not in read:
            read[key] = _read(draft, scope, tofu=key[1])
    found = {name: read[draft.source, takes_tofu(draft.engine, scope.environ)] for name, draft in drafts.items()}
    return {name: interface for name, interface in found.items() if interface is not None}


def _read(draft: Draft, scope: Scope, *, tofu: bool) -> Interface | None:
    mark = (draft.node.get("source") or draft.node).mark
    where = dotted((*draft.where, "source"))
    if not draft.source.is_dir():
        scope.source_findings.error(mark, where, _absent(draft))
        return None
    try:
        return introspect(draft.source, draft.shown, tofu=tofu)
    except InvalidManifest as error:
        for problem in error.problems:
            if problem.file == draft.shown:
                scope.source_findings.error(mark, where, f"{draft.shown} {problem.message}")
            else:
                place = Mark(problem.file, problem.line, problem.column)
                scope.source_findings.error(place, problem.where, problem.message)
        return None


def _absent(draft: Draft) -> str:
    if REMOTE.fullmatch(draft.shown):
        return "a remote source is not supported yet; name a folder"
    if draft.source.exists():
        return f"{draft.shown} is no folder"
    parent = draft.source.parent
    siblings = [entry.name for entry in parent.iterdir() if entry.is_dir()] if parent.is_dir() else []
    return f"no folder {draft.shown}{did_you_mean(draft.source.name, siblings)}"


def check_interfaces(built: Built, scope: Scope) -> None:
    """Find inputs that are unknown, missing or of the wrong type, unknown outputs, and bad version constraints."""
    drafts, modules, interfaces = built.drafts, built.modules, built.interfaces
    given = _given_names(drafts, interfaces, scope)
    for name in interfaces:
        _check_inputs(drafts[name], modules[name], scope)
        _check_missing(drafts[name], modules[name], given[name], scope)
        _check_references(drafts[name], modules[name], interfaces, scope)
        _check_constraints(drafts[name], modules[name], scope)


def _check_inputs(draft: Draft, module: Module, scope: Scope) -> None:
    variables = module.interface.variables
    for name, node in draft.inputs(module.interface).items():
        where: Where = (*draft.where, "inputs", name)
        source = module.inputs[name]
        if name not in variables:
            hint = did_you_mean(name, variables)
            message = f'{draft.shown} declares no variable "{name}"{hint}'
            scope.source_findings.error(node.key, dotted(where), message)
        elif isinstance(source, Literal) and (wrong := mismatch(variables[name].type, source.tree)):
            scope.source_findings.error(node.mark, dotted(where), f'{draft.shown}: "{name}" {wrong}')


def _check_missing(draft: Draft, module: Module, given: set[str], scope: Scope) -> None:
    node = draft.node.get("inputs") if draft.own_inputs else None
    for name, variable in module.interface.variables.items():
        if variable.required and name not in module.inputs and name not in given and TF_VAR + name not in scope.environ:
            message = f'{draft.shown} needs a value for "{name}", which has no default'
            scope.source_findings.error((node or draft.node).key, dotted((*draft.where, "inputs")), message)


def _check_references(draft: Draft, module: Module, interfaces: Mapping[str, Interface], scope: Scope) -> None:
    nodes = draft.inputs(module.interface)
    for name, source in module.inputs.items():
        for reference in source.references if isinstance(source, Literal) else ():
            target = interfaces.get(reference.module)
            if target is None or reference.output in target.outputs:
                continue
            there = ", ".join(sorted(target.outputs)) or "none"
            near = did_you_mean(reference.output, target.outputs)
            near = f"{near} it" if near.endswith("?") else "; it"
            message = f'module "{reference.module}" has no output "{reference.output}"{near} has: {there}'
            scope.source_findings.error(nodes[name].mark, dotted((*draft.where, "inputs", name)), message)


def _check_constraints(draft: Draft, module: Module, scope: Scope) -> None:
    mark = (draft.node.get("source") or draft.node).mark
    for constraint in module.interface.required_version:
        try:
            parse_constraint(constraint)
        except ValueError as error:
            message = f"required_version of {draft.shown} is not a version constraint: {error}"
            scope.source_findings.error(mark, dotted((*draft.where, "source")), message)


def _given_names(drafts: Mapping[str, Draft], interfaces: Mapping[str, Interface], scope: Scope) -> dict[str, set[str]]:
    """For each module the names that variable files set; a name that no module of a file declares is a warning."""
    read: dict[Path, set[str]] = {}
    given: dict[str, set[str]] = {}
    unused: dict[Path, set[str]] = {}
    marks: dict[Path, tuple[Mark, Where]] = {}
    for name, interface in interfaces.items():
        own = list(_var_files(drafts[name], scope))
        automatic = [(path, drafts[name].node) for path in automatic_var_files(drafts[name].source)]
        for path, node in (*automatic, *own):
            names = read[path] if path in read else read.setdefault(path, _names(path, node, drafts[name], scope))
            given.setdefault(name, set()).update(names)
        for path, node in own:
            unused[path] = unused.get(path, read[path]) - interface.variables.keys()
            marks.setdefault(path, (node.mark, (*drafts[name].where, "var_files")))
        given.setdefault(name, set())
    for path, names in unused.items():
        for undeclared in sorted(names):
            mark, where = marks[path]
            message = f'{shown_path(path, scope.root)} sets "{undeclared}", which no module that uses the file declares'
            scope.source_findings.warn(mark, dotted(where), message)
    return given


def _var_files(draft: Draft, scope: Scope) -> Iterator[tuple[Path, Node]]:
    return ((path, node) for node, path in path_nodes(draft, "var_files", scope))


def _names(path: Path, node: Node, draft: Draft, scope: Scope) -> set[str]:
    shown = shown_path(path, scope.root)
    if not path.is_file():
        scope.source_findings.error(node.mark, dotted((*draft.where, "var_files")), f"no file {shown}")
        return set()
    try:
        return set(read_var_file(path, shown))
    except InvalidManifest as error:
        scope.source_findings.take(error.problems)
        return set()
