"""A module with `for_each` becomes one module for each value: FAMILY.KEY, with that key and value filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from hybridwrap.adapters.manifest.each import Each
from hybridwrap.adapters.manifest.node import Findings, Node, dotted, overlay
from hybridwrap.adapters.manifest.wording import did_you_mean

# All instances' values of one output, by key: "{{ modules.vm['*'].id }}".
ALL = re.compile(r"\{\{\s*modules\.([A-Za-z_]\w*)\[['\"]\*['\"]\]\.([A-Za-z_]\w*)\s*\}\}")

Families = Mapping[str, tuple[str, ...]]  # the keys of each module with `for_each`


def expand(modules: Mapping[str, Node], findings: Findings) -> tuple[dict[str, Node], Families]:
    """Put instances in the place of their families.

    What stands under the name of an instance, as an environment may say it, is laid over that instance.
    """
    families = {name: tuple(node.fields["for_each"].fields) for name, node in modules.items() if node.get("for_each")}
    found: dict[str, Node] = {}
    for name, node in modules.items():
        if name in families:
            found |= _instances(name, node, modules, findings)
        elif "." in name:
            _check_instance(name, node, families, findings)
        else:
            found[name] = node
    return ({name: _with_families(node, families) for name, node in found.items()} if families else found), families


def _instances(family: str, node: Node, modules: Mapping[str, Node], findings: Findings) -> Iterator[tuple[str, Node]]:
    common = replace(node, value={name: child for name, child in node.fields.items() if name != "for_each"})
    for key, value in node.fields["for_each"].fields.items():
        own = overlay(common, modules.get(f"{family}.{key}")) or common
        yield f"{family}.{key}", Each(key, value, findings).fill(own, ("modules", family))


def _check_instance(name: str, node: Node, families: Families, findings: Findings) -> None:
    family, _, key = name.partition(".")
    if family not in families:
        near = did_you_mean(family, families)
        message = f'"{name}" would be an instance of "{family}", which is no module with `for_each`{near}'
    elif key not in families[family]:
        message = f'`for_each` of module "{family}" has no "{key}"{did_you_mean(key, families[family])}'
    else:
        return
    findings.error(node.key, dotted(("modules", family, key)), message)


def _with_families(node: Node, families: Families) -> Node:
    """Put the instances where a whole family is named: in `depends_on`, and as a whole input."""
    fields = dict(node.fields)
    if needed := fields.get("depends_on"):
        fields["depends_on"] = replace(needed, value=[one for item in needed.items for one in _each(item, families)])
    if inputs := fields.get("inputs"):
        fields["inputs"] = _with_all(inputs, families)
    return replace(node, value=fields)


def _each(item: Node, families: Families) -> Iterator[Node]:
    name = str(item.value)
    if name not in families:
        yield item
    for key in families.get(name, ()):
        yield replace(item, value=f"{name}.{key}")


def _with_all(node: Node, families: Families) -> Node:
    match node.value:
        case str() as text if (all_of := ALL.fullmatch(text)) and all_of[1] in families:
            family, output = all_of.groups()
            values = {key: f"{{{{ modules['{family}.{key}'].{output} }}}}" for key in families[family]}
            return replace(node, value={key: replace(node, value=value) for key, value in values.items()})
        case list() as items:
            return replace(node, value=[_with_all(item, families) for item in items])
        case dict() as fields:
            return replace(node, value={name: _with_all(child, families) for name, child in fields.items()})
    return node
