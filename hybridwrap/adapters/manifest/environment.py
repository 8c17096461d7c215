"""Which environment of a manifest is meant, and the manifest with that environment laid over it."""

from __future__ import annotations

from collections.abc import Mapping

from hybridwrap.adapters.manifest.node import Findings, Node, dotted, overlay
from hybridwrap.adapters.manifest.wording import did_you_mean
from hybridwrap.errors import UsageError

VARIABLE = "HYBRIDWRAP_ENVIRONMENT"
DEFAULT = "default"


def declared_environments(root: Node) -> tuple[str, ...]:
    """Name the environments; a manifest that declares none has one called default."""
    declared = root.get("environments")
    return tuple(declared.fields) if declared and declared.fields else (DEFAULT,)


def choose(names: tuple[str, ...], wanted: str | None, environ: Mapping[str, str]) -> str:
    """Settle on one of the environments. Raise UsageError where that is not possible."""
    chosen = wanted or environ.get(VARIABLE) or (names[0] if len(names) == 1 else "")
    if chosen in names:
        return chosen
    there = f"there are: {', '.join(names)}"
    if not chosen:
        raise UsageError(f"which environment? {there}", hint=f"add to it: -e {names[0]}, or {VARIABLE}={names[0]}")
    said = "" if wanted else f", which {VARIABLE} says"
    near = did_you_mean(chosen, names)
    near = near if near.endswith("?") else f"; {there}"
    raise UsageError(f'no environment "{chosen}"{said}{near}', hint=f"add to it: -e {names[0]}")


def in_environment(root: Node, environment: str, findings: Findings) -> Node:
    """Lay an environment over the manifest. An environment that changes the type of a state is an error."""
    top = root.get("environments", environment)
    if top is None or top.value is None:
        return root
    _check_type(root.get("state"), top.get("state"), ("environments", environment), findings)
    modules = top.get("modules")
    for name, module in modules.fields.items() if modules else ():
        if base := root.get("modules", name):
            before = base.get("state") or root.get("state")
            _check_type(before, module.get("state"), ("environments", environment, "modules", name), findings)
    return overlay(root, top) or root


def _check_type(before: Node | None, after: Node | None, where: tuple[str, ...], findings: Findings) -> None:
    was, becomes = (next(iter(node.fields)) if node else "local" for node in (before, after))
    if after and was != becomes:
        message = f"an environment cannot change the type of a state: it is {was}, here {becomes}"
        findings.error(after.key, dotted((*where, "state")), message)
