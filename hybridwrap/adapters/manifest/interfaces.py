"""What the modules' sources declare, against what the manifest gives them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from hybridwrap.adapters.introspection import introspect
from hybridwrap.adapters.manifest.engines import takes_tofu
from hybridwrap.adapters.manifest.given import check_var_files
from hybridwrap.adapters.manifest.modules import Built, Draft
from hybridwrap.adapters.manifest.node import dotted
from hybridwrap.adapters.manifest.scope import Scope, Where
from hybridwrap.adapters.manifest.types import mismatch
from hybridwrap.adapters.manifest.wording import did_you_mean
from hybridwrap.adapters.remote_sources import looks_like_registry
from hybridwrap.domain.inputs import TF_VAR
from hybridwrap.domain.stack import Interface, Literal, Module
from hybridwrap.domain.version import parse_constraint
from hybridwrap.errors import InvalidManifest


def read_interfaces(drafts: Mapping[str, Draft], scope: Scope) -> dict[str, Interface]:
    """Read each source once. A module whose source cannot be read is left out."""
    read: dict[tuple[Path, bool], Interface | None] = {}
    found: dict[str, Interface] = {}
    for name, draft in drafts.items():
        key = (draft.source, takes_tofu(draft.engine, scope.environ))
        if not draft.source.is_dir():
            if not draft.origin:  # else it is said why
                _error(draft, scope, _absent(draft))
            continue
        if key not in read:
            read[key] = _read(draft, scope, tofu=key[1])
        if interface := read[key]:
            found[name] = interface
    return found


def _read(draft: Draft, scope: Scope, *, tofu: bool) -> Interface | None:
    try:
        return introspect(draft.source, draft.shown, tofu=tofu)
    except InvalidManifest as error:
        own = [problem.message for problem in error.problems if problem.file == draft.shown]
        for message in own:
            _error(draft, scope, f"{draft.shown} {message}")
        scope.source_findings.take(problem for problem in error.problems if problem.file != draft.shown)
        return None


def _error(draft: Draft, scope: Scope, message: str) -> None:
    mark = (draft.node.get("source") or draft.node).mark
    scope.source_findings.error(mark, dotted((*draft.where, "source")), message)


def _absent(draft: Draft) -> str:
    if draft.source.exists():
        return f"{draft.shown} is no folder"
    parent = draft.source.parent
    siblings = [entry.name for entry in parent.iterdir() if entry.is_dir()] if parent.is_dir() else []
    near = did_you_mean(draft.source.name, siblings)
    if looks_like_registry(draft.shown) and not near:
        near = "; for a module of a registry say its `version`, too"
    return f"no folder {draft.shown}{near}"


def check_interfaces(built: Built, scope: Scope) -> None:
    """Find inputs that are unknown, missing or of the wrong type, unknown outputs, and bad version constraints."""
    drafts, modules, interfaces = built.drafts, built.modules, built.interfaces
    _warn_unused_defaults(built, scope)
    given = check_var_files(built, scope)
    for name in interfaces:
        _check_inputs(drafts[name], modules[name], scope)
        _check_missing(drafts[name], modules[name], given[name], scope)
        _check_references(drafts[name], modules[name], interfaces, scope)
        _check_constraints(drafts[name], modules[name], scope)


def _warn_unused_defaults(built: Built, scope: Scope) -> None:
    """Name the defaults that no module takes; those of an included file are only for the modules in there."""
    declared = {name for interface in built.interfaces.values() for name in interface.variables}
    given = [(built.drafts[module].default_inputs, i.variables) for module, i in built.interfaces.items()]
    taken = {node.key for defaults, variables in given for name, node in defaults.items() if name in variables}
    for name, node in ((name, node) for defaults, _ in given for name, node in defaults.items()):
        where = dotted(("defaults", "inputs", name))
        if name not in declared:
            message = f'no module declares the variable "{name}"{did_you_mean(name, declared)}'
            scope.source_findings.warn(node.key, where, message)
        elif scope.is_included(node) and node.key not in taken:
            scope.source_findings.warn(node.key, where, f'no module of this file declares the variable "{name}"')


def _check_inputs(draft: Draft, module: Module, scope: Scope) -> None:
    variables = module.interface.variables
    for name, node in draft.inputs(module.interface).items():
        where: Where = (*draft.where, "inputs", name)
        source = module.inputs[name]
        if name not in variables:
            message = f'{draft.shown} declares no variable "{name}"{did_you_mean(name, variables)}'
            scope.source_findings.error(node.key, dotted(where), message)
        elif isinstance(source, Literal) and (wrong := mismatch(variables[name].type, source.tree)):
            shown = f"takes {variables[name].type}" if variables[name].sensitive else wrong
            scope.source_findings.error(node.mark, dotted(where), f'{draft.shown}: "{name}" {shown}')


def _check_missing(draft: Draft, module: Module, in_files: Collection[str], scope: Scope) -> None:
    node = draft.node.get("inputs") if draft.own_inputs else None
    given = {*module.inputs, *in_files, *scope.given}
    for name, variable in module.interface.variables.items():
        if variable.required and name not in given and TF_VAR + name not in scope.environ:
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
    for constraint in module.interface.required_version:
        try:
            parse_constraint(constraint)
        except ValueError as error:
            _error(draft, scope, f"required_version of {draft.shown} is not a version constraint: {error}")
