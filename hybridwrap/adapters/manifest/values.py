"""Inputs, from nodes to what they are made of: literals, references, or a source outside."""

from __future__ import annotations

from collections.abc import Iterator

from hybridwrap.adapters.manifest.node import OUTSIDE, Node, comes_from_outside, plain
from hybridwrap.adapters.manifest.scope import Scope, Where
from hybridwrap.adapters.templates import BadTemplate, is_template, references
from hybridwrap.domain.stack import FromEnv, FromFile, Input, Literal, Reference


def read_input(node: Node, where: Where, scope: Scope, module: str) -> Input:
    place = str(node.mark)
    if comes_from_outside(node):
        return _read_outside(node, where, scope, module)
    found = dict.fromkeys(_references(node, where, scope))
    return Literal(plain(node), tuple(found), place)


def _read_outside(node: Node, where: Where, scope: Scope, module: str) -> Input:
    (kind, child) = next(iter(node.fields.items()))
    if not isinstance(child.value, str) or not child.value:
        scope.error(child, (*where, kind), f"{kind} takes a text")
        return Literal(None)
    if kind == "from_env":
        return FromEnv(child.value, str(node.mark))
    written = scope.fill(child, (*where, kind), module)
    return FromFile(scope.beside(child, written), scope.from_root(child, written), str(node.mark))


def _references(node: Node, where: Where, scope: Scope) -> Iterator[Reference]:
    match node.value:
        case str() as text if is_template(text):
            yield from _read_template(text, node, where, scope)
        case list() as items:
            for at, child in enumerate(items):
                yield from _references(child, (*where, at), scope)
        case dict() as fields:
            for name, child in fields.items():
                if comes_from_outside(child):
                    scope.error(child, (*where, name), f"{' and '.join(OUTSIDE)} can only be a whole input")
                if is_template(name):
                    scope.error(child, (*where, name), "a key cannot be a template")
                yield from _references(child, (*where, name), scope)


def _read_template(text: str, node: Node, where: Where, scope: Scope) -> tuple[Reference, ...]:
    if text not in scope.references:
        try:
            scope.references[text] = references(text, scope.families)
        except BadTemplate as error:
            scope.error(node, where, str(error))
            return ()
    return scope.references[text]
