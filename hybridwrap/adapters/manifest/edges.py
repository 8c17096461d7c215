"""The edges between the modules of a manifest: they lead to modules that exist, and never in a circle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from hybridwrap.adapters.manifest.modules import Built, Draft
from hybridwrap.adapters.manifest.node import Mark, Node, dotted, empty
from hybridwrap.adapters.manifest.scope import Scope, Where
from hybridwrap.adapters.manifest.wording import did_you_mean
from hybridwrap.domain.graph import cycle
from hybridwrap.domain.stack import Literal, Module


def check_edges(built: Built, root: Node, scope: Scope) -> None:
    """Find edges to nowhere and cycles, and names that only some file systems can tell apart.

    `root` has the modules of the manifest, with those that are left out.
    """
    drafts, modules = built.drafts, built.modules
    declared, stacks = (root.get(name) or empty(root.mark) for name in ("modules", "stacks"))
    needs: dict[str, tuple[str, ...]] = {}
    for name, module in modules.items():
        for needed, mark, where in _edges(drafts[name], module):
            if "/" in needed:
                _check_stack(needed.partition("/")[0], mark, where, stacks, scope)
            elif needed == name:
                scope.findings.error(mark, dotted(where), f'module "{name}" cannot come before itself')
            elif needed in declared.fields and needed not in modules:
                scope.findings.error(mark, dotted(where), f'module "{needed}" is left out here: enabled is false')
            elif needed in scope.families:
                message = f'"{needed}" is a module for each of several values: name one, as in {needed}.KEY'
                scope.findings.error(mark, dotted(where), message)
            elif needed not in modules:
                scope.findings.error(mark, dotted(where), f'no module "{needed}"{did_you_mean(needed, modules)}')
        needs[name] = tuple(needed for needed in module.needs if needed in modules and needed != name)
    _check_cycles(built, needs, scope)
    _check_case(drafts, scope)


def _check_stack(stack: str, mark: Mark, where: Where, declared: Node, scope: Scope) -> None:
    if stack not in declared.fields:
        near = did_you_mean(stack, declared.fields) if declared.fields else ": `stacks` declares none"
        scope.findings.error(mark, dotted(where), f'no stack "{stack}"{near}')


def _edges(draft: Draft, module: Module) -> Iterator[tuple[str, Mark, Where]]:
    depends_on = draft.node.get("depends_on")
    for at, node in enumerate(depends_on.items if depends_on else ()):
        yield str(node.value), node.mark, (*draft.where, "depends_on", at)
    if owner := draft.node.get("owner"):
        yield str(owner.value), owner.mark, (*draft.where, "owner")
    nodes = draft.inputs(module.interface)
    for name, source in module.inputs.items():
        for reference in source.references if isinstance(source, Literal) else ():
            yield reference.module, nodes[name].mark, (*draft.where, "inputs", name)


def _check_cycles(built: Built, needs: dict[str, tuple[str, ...]], scope: Scope) -> None:
    """Say every cycle that has no module in common with an earlier one."""
    while circle := cycle(needs):
        draft = built.drafts[circle[0]]
        reads = "".join(_read(built.modules[name], needed) for name, needed in pairwise(circle))
        scope.findings.error(draft.node.key, dotted(draft.where), f"cycle: {' -> '.join(circle)}{reads}")
        needs = {n: tuple(m for m in found if m not in circle) for n, found in needs.items() if n not in circle}


def _read(module: Module, needed: str) -> str:
    return f"; {module.name} reads the state of {needed} ({module.reads[needed]})" if needed in module.reads else ""


def _check_case(drafts: Mapping[str, Draft], scope: Scope) -> None:
    seen: dict[str, str] = {}
    for name, draft in drafts.items():
        other = seen.setdefault(name.lower(), name)
        if other != name:
            message = f'"{name}" and "{other}" differ only by case: one folder on macOS and Windows'
            scope.findings.warn(draft.node.key, dotted(draft.where), message)
