"""HCL and its JSON form as blocks and attributes, with literal values; nothing is evaluated."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from hybridwrap.domain.json import Json, loads
from hybridwrap.errors import InvalidManifest, Problem

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


MAX_INT_DIGITS = 1000  # Python refuses to read much longer ones; Decimal does not


class NotLiteral(ValueError):
    """An expression that only the engine can evaluate."""


class Attribute(Struct, frozen=True):
    """`text` is the expression as written, without comments; `value` is "..." where it is no literal.

    `entries` are those of an object that is not wholly literal, by the names that are written out.
    """

    text: str
    value: Json = "..."
    literal: bool = False
    line: int = 0
    entries: Mapping[str, Attribute] = {}


class Block(Struct, frozen=True):
    type: str
    labels: tuple[str, ...] = ()
    attributes: Mapping[str, Attribute] = {}
    blocks: tuple[Block, ...] = ()
    line: int = 0

    def named(self, type_: str) -> Iterator[Block]:
        return (block for block in self.blocks if block.type == type_)

    def value(self, name: str) -> Json:
        """The literal value of an attribute, None when it is absent or not literal."""
        attribute = self.attributes.get(name)
        return attribute.value if attribute and attribute.literal else None


def read(path: Path, name: str) -> Block:
    """Read a file as one block without type. Raise InvalidManifest, with places in `name`, for a syntax error."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidManifest([Problem(name, 0, 0, "", f"cannot be read: {error.strerror}")]) from error
    return read_json(data, name) if path.name.endswith(".json") else read_native(data, name)


# Block types of the JSON form, where nothing else tells a block from an attribute: type -> number of labels.
JSON_BLOCKS = {
    "": {"variable": 1, "output": 1, "resource": 2, "data": 2, "module": 1, "terraform": 0, "locals": 0, "language": 0},
    "terraform": {"backend": 1, "cloud": 0},
    "resource": {"lifecycle": 0},
    "language": {"compatible_with": 0},
}


def read_json(data: bytes, name: str) -> Block:
    try:
        tree = loads(data)
    except ValueError as error:
        line, column = getattr(error, "lineno", 0), getattr(error, "colno", 0)
        raise InvalidManifest([Problem(name, line, column, "", f"not JSON: {error}")]) from error
    if not isinstance(tree, dict):
        raise InvalidManifest([Problem(name, 1, 1, "", "must be a JSON object")])
    return _json_block("", (), tree)


def _json_block(type_: str, labels: tuple[str, ...], tree: Mapping[str, Json]) -> Block:
    kinds = JSON_BLOCKS.get(type_, {})
    blocks = [block for name in kinds.keys() & tree.keys() for block in _json_blocks(name, kinds[name], (), tree[name])]
    attributes = {name: _json_attribute(value) for name, value in tree.items() if name not in kinds}
    return Block(type_, labels, attributes, tuple(blocks))


def _json_blocks(type_: str, depth: int, labels: tuple[str, ...], tree: Json) -> Iterator[Block]:
    for body in tree if isinstance(tree, list) else [tree]:
        if not isinstance(body, dict):
            continue
        if depth == 0:
            yield _json_block(type_, labels, body)
        else:
            for label, inner in body.items():
                yield from _json_blocks(type_, depth - 1, (*labels, label), inner)


def _json_attribute(value: Json) -> Attribute:
    text = value if isinstance(value, str) else str(value)
    if not re.search(r"[$%]\{", text):
        return Attribute(text, value, literal=True)
    entries = {n: _json_attribute(v) for n, v in value.items()} if isinstance(value, dict) else {}
    return Attribute(f'"{text}"' if isinstance(value, str) else text, entries=entries)


@cache
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_hcl

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_hcl.language()))


# tree-sitter-hcl 1.2 takes 1e3 for a syntax error; digits of the same length keep every offset.
EXPONENT = re.compile(rb"(?<![\w.\"])\d+[eE][-+]?\d+")


def read_native(data: bytes, name: str) -> Block:
    data = data.removeprefix(b"\xef\xbb\xbf")
    root = _parser().parse(data).root_node
    if root.has_error:
        root = _parser().parse(EXPONENT.sub(lambda m: b"1" * len(m.group()), data)).root_node
    if root.has_error:
        raise InvalidManifest([_syntax_error(root, data, name)])
    body = next((child for child in root.named_children if child.type == "body"), None)
    return Block("", (), *(_members(body, data) if body else ({}, ())))


def _syntax_error(root: Node, data: bytes, name: str) -> Problem:
    node = root
    while broken := next((c for c in node.children if c.has_error or c.is_missing), None):
        node = broken
    row, offset = node.start_point
    line = data.split(b"\n")[row].decode("utf-8", "replace")
    column = len(line.encode()[:offset].decode("utf-8", "replace")) + 1
    wanted = "a closing quote" if node.type == "quoted_template_end" else node.type
    name_of_value, equals, _ = line.strip().partition("=")
    near = f"{name_of_value}= …" if equals else name_of_value  # the value may be a secret
    message = f"syntax error: {wanted} is missing" if node.is_missing else f"syntax error in `{near}`"
    return Problem(name, row + 1, column, "", message)


def _members(body: Node, data: bytes) -> tuple[dict[str, Attribute], tuple[Block, ...]]:
    attributes, blocks = {}, []
    for child in body.named_children:
        if child.type == "attribute":
            attributes[_text(child.named_children[0], data)] = _attribute(child, data)
        elif child.type == "block":
            blocks.append(_block(child, data))
    return attributes, tuple(blocks)


def _block(node: Node, data: bytes) -> Block:
    head = [c for c in node.named_children if c.type in {"identifier", "string_lit"}]
    body = next((c for c in node.named_children if c.type == "body"), None)
    names = [_string(c, data) if c.type == "string_lit" else _text(c, data) for c in head]
    members = _members(body, data) if body else ({}, ())
    return Block(names[0], tuple(names[1:]), *members, line=node.start_point[0] + 1)


def _attribute(node: Node, data: bytes) -> Attribute:
    return _expression(next(c for c in node.named_children if c.type == "expression"), data)


def _expression(node: Node, data: bytes) -> Attribute:
    text, line = _uncommented(node, data), node.start_point[0] + 1
    try:
        return Attribute(text, literal(node, data), literal=True, line=line)
    except NotLiteral:
        return Attribute(text, line=line, entries=dict(_entries(node, data)))


def _entries(node: Node, data: bytes) -> Iterator[tuple[str, Attribute]]:
    inner = node.named_children
    if node.type in WRAPPERS and len(inner) == 1:
        yield from _entries(inner[0], data)
    for item in inner if node.type == "object" else ():
        if item.type == "object_elem":
            key, value = (child for child in item.named_children if child.type == "expression")
            yield _text(key, data).strip('"'), _expression(value, data)


def _text(node: Node, data: bytes) -> str:
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _uncommented(node: Node, data: bytes) -> str:
    text, at = "", node.start_byte
    for comment in _comments(node):
        text += data[at : comment.start_byte].decode("utf-8", "replace")
        at = comment.end_byte
    return " ".join((text + data[at : node.end_byte].decode("utf-8", "replace")).split())


def _comments(node: Node) -> Iterator[Node]:
    for child in node.children:
        if child.type == "comment":
            yield child
        elif child.child_count:
            yield from _comments(child)


def literal(node: Node, data: bytes) -> Json:
    """Read a constant expression. Raise NotLiteral for one that names or computes anything."""
    inner = node.named_children
    if node.type in WRAPPERS and len(inner) == 1:
        return literal(inner[0], data)
    if node.type not in LITERALS:
        raise NotLiteral(node.type)
    return LITERALS[node.type](node, data)


def _number(node: Node, data: bytes) -> int | Decimal:
    text = _text(node, data)
    return int(text) if text.isdigit() and len(text) < MAX_INT_DIGITS else Decimal(text)


def _negative(node: Node, data: bytes) -> Json:
    operand = node.named_children[0]
    if not _text(node, data).startswith("-") or operand.type != "literal_value":
        raise NotLiteral(node.type)
    return -literal(operand, data)


def _constant(node: Node, data: bytes) -> bool | None:
    return {"true": True, "false": False, "null": None}[_text(node, data)]


def _tuple(node: Node, data: bytes) -> Json:
    return [literal(item, data) for item in node.named_children if item.type == "expression"]


def _object(node: Node, data: bytes) -> Json:
    return dict(_pair(item, data) for item in node.named_children if item.type == "object_elem")


def _pair(node: Node, data: bytes) -> tuple[str, Json]:
    key, value = (child for child in node.named_children if child.type == "expression")
    name = _text(key, data)
    return (name if name.isidentifier() else str(literal(key, data))), literal(value, data)


ESCAPE = re.compile(r'\\([nrt"\\])|\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})|([$%])\4\{')
PLAIN_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}


def _unescape(match: re.Match[str]) -> str:
    plain, four, eight, sign = match.groups()
    if sign:
        return f"{sign}{{"
    return PLAIN_ESCAPES[plain] if plain else chr(int(four or eight, 16))


def _string(node: Node, data: bytes) -> str:
    if any(c.type in {"template_interpolation", "template_directive"} for c in node.named_children):
        raise NotLiteral(node.type)
    return ESCAPE.sub(_unescape, _text(node, data)[1:-1])


def _heredoc(node: Node, data: bytes) -> str:
    if any(c.type in {"template_interpolation", "template_directive"} for c in node.named_children):
        raise NotLiteral(node.type)
    first, *lines = _text(node, data).split("\n")
    lines.pop()  # the closing word
    if first.startswith("<<-"):
        indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        lines = [line[indent:] for line in lines]
    return re.sub(r"([$%])\1\{", r"\1{", "".join(f"{line}\n" for line in lines))


WRAPPERS = ("expression", "literal_value", "collection_value", "operation", "template_expr")
LITERALS: Mapping[str, Callable[[Node, bytes], Json]] = {
    "string_lit": _string,
    "quoted_template": _string,
    "heredoc_template": _heredoc,
    "numeric_lit": _number,
    "unary_operation": _negative,
    "bool_lit": _constant,
    "null_lit": _constant,
    "tuple": _tuple,
    "object": _object,
}
