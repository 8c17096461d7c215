"""One manifest out of many files: each file's modules with the defaults that lie below them, and environments on top.

The nearer layer wins: defaults of the manifest, defaults of the included file, the module, the file's environment, the
manifest's environment.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.adapters.manifest.environment import declared_environments, in_environment
from hybridwrap.adapters.manifest.instances import Families, expand
from hybridwrap.adapters.manifest.node import Findings, Node, dotted, empty, overlay
from hybridwrap.adapters.manifest.parts import Files, Part
from hybridwrap.adapters.manifest.wording import did_you_mean


class Layered(Struct, frozen=True):
    """A manifest in one environment, with the modules of all its files.

    `defaults` has what lies below the modules of included files; below all others lie the manifest's own.
    """

    root: Node
    defaults: Mapping[str, Node]
    families: Families = {}

    def defaults_of(self, module: str) -> Node:
        return self.defaults.get(module) or self.root.get("defaults") or empty(self.root.mark)


def layer(files: Files, environment: str, findings: Findings) -> Layered:
    """Put the files together, and lay an environment over each of them and over the whole."""
    main = files.main.node
    modules = dict((main.get("modules") or empty(main.mark)).fields)
    below: dict[str, Node] = {}
    for part in files.included:
        _check_environments(part, declared_environments(main), findings)
        there = in_environment(part.node, environment, findings)
        for name, module in (there.get("modules") or empty(there.mark)).fields.items():
            if first := modules.get(name):
                message = f"a module of this name is in {first.key.file}:{first.key.line} already"
                findings.error(module.key, dotted(("modules", name)), message)
                continue
            modules[name] = module
            if defaults := there.get("defaults"):
                below[name] = defaults
    root = in_environment(_with(main, modules), environment, findings)
    below = {name: overlay(root.get("defaults"), node) or node for name, node in below.items()}
    expanded, families = expand((root.get("modules") or empty(root.mark)).fields, findings)
    below |= {f"{name}.{key}": below[name] for name, keys in families.items() if name in below for key in keys}
    return Layered(_with(root, expanded), below, families)


def _with(main: Node, modules: dict[str, Node]) -> Node:
    node = main.get("modules") or empty(main.mark)
    return replace(main, value={**main.fields, "modules": replace(node, value=modules)})


def _check_environments(part: Part, known: tuple[str, ...], findings: Findings) -> None:
    declared = part.node.get("environments")
    for name, node in declared.fields.items() if declared else ():
        if name not in known:
            message = f'the manifest has no environment "{name}"{did_you_mean(name, known)}'
            findings.error(node.key, dotted(("environments", name)), message)
