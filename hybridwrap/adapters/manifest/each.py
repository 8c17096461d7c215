"""The key and the value of one instance, put where a module says `each`."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.adapters.manifest.node import OUTSIDE, Findings, Node, dotted, plain
from hybridwrap.adapters.manifest.scope import Where
from hybridwrap.adapters.manifest.wording import did_you_mean
from hybridwrap.adapters.templates import BadTemplate, is_template
from hybridwrap.domain.json import canonical

PATH = r"each((?:\.[A-Za-z_]\w*|\[(?:'[^']*'|\"[^\"]*\"|\d+)\])+)"
TEMPLATE = re.compile(rf"\{{\{{\s*{PATH}\s*\}}\}}")
PLACEHOLDER = re.compile(r"\{each((?:\.\w+)+)\}")
STEP = re.compile(r"\.(\w+)|\['([^']*)'\]|\[\"([^\"]*)\"\]|\[(\d+)\]")
STILL_EACH = re.compile(r"\{\{.*\beach\b.*\}\}", re.DOTALL)


class _Missing(ValueError):
    """What a module asks for and its instance does not have; the text says what."""


class Each(Struct, frozen=True):
    key: str
    value: Node
    findings: Findings

    def fill(self, node: Node, where: Where) -> Node:
        """Fill in a module: templates in inputs, placeholders such as {each.key} everywhere else."""
        fields = {
            name: self._inputs(child, (*where, name)) if name == "inputs" else self._texts(child, (*where, name))
            for name, child in node.fields.items()
        }
        return replace(node, value=fields)

    def _inputs(self, node: Node, where: Where) -> Node:
        match node.value:
            case str() as text if is_template(text):
                return self._template(text, node, where)
            case list() as items:
                return replace(node, value=[self._inputs(child, (*where, at)) for at, child in enumerate(items)])
            case dict() as fields:
                read = {
                    name: self._texts(child, (*where, name)) if name in OUTSIDE else self._inputs(child, (*where, name))
                    for name, child in fields.items()
                }
                return replace(node, value=read)
        return node

    def _texts(self, node: Node, where: Where) -> Node:
        match node.value:
            case str() as text if "{each" in text:
                return self._guarded(node, where, lambda: replace(node, value=PLACEHOLDER.sub(self._told, text)))
            case list() as items:
                return replace(node, value=[self._texts(child, (*where, at)) for at, child in enumerate(items)])
            case dict() as fields:
                return replace(node, value={n: self._texts(child, (*where, n)) for n, child in fields.items()})
        return node

    def _template(self, text: str, node: Node, where: Where) -> Node:
        if lone := TEMPLATE.fullmatch(text):
            return self._guarded(node, where, lambda: replace(self._at(lone[1]), key=node.key))
        return self._guarded(node, where, lambda: replace(node, value=self._in_text(text)))

    def _in_text(self, text: str) -> str:
        text = TEMPLATE.sub(self._told, text)
        if not STILL_EACH.search(text):
            return text
        from hybridwrap.adapters.jinja_each import fill_each

        return fill_each(text, {"key": self.key, "value": plain(self.value)})

    def _guarded(self, node: Node, where: Where, made: Callable[[], Node]) -> Node:
        try:
            return made()
        except (_Missing, BadTemplate) as error:
            self.findings.error(node.mark, dotted(where), str(error))
            return replace(node, value=None)

    def _told(self, found: re.Match[str]) -> str:
        """A value as it stands in a text."""
        match self._at(found[1]).value:
            case str() as text if not is_template(text):
                return text
            case str():
                raise _Missing(f"each{found[1]} is a template: it can only be a whole input")
            case None | dict() | list() as value:
                what = "nothing" if value is None else "a list or a mapping"
                raise _Missing(f"each{found[1]} is {what}, which cannot stand in a text")
            case scalar:
                return canonical(scalar).decode()

    def _at(self, path: str) -> Node:
        first, *steps = (next(filter(None, groups), "") for groups in STEP.findall(path))
        if first == "key" and not steps:
            return replace(self.value, value=self.key)
        if first != "value":
            raise _Missing(f"each{path} is nothing: there are each.key and each.value")
        node, shown = self.value, "each.value"
        for step in steps:
            node, shown = _child(node, step, shown), f"{shown}.{step}"
        return node


def _child(node: Node, step: str, shown: str) -> Node:
    items = list(node.items)
    if step.isdecimal() and int(step) < len(items):
        return items[int(step)]
    if step in node.fields:
        return node.fields[step]
    raise _Missing(f'{shown} has no "{step}" here{did_you_mean(step, node.fields)} ({node.mark})')
