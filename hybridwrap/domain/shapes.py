"""What values a variable takes, read from its type expression; and a value that it would take."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from msgspec import Struct

from hybridwrap.domain.json import Json

PRIMITIVES = ("string", "number", "bool")
COLLECTIONS = ("list", "set", "map")
_TOKEN = re.compile(r'[^\W\d][\w-]*|"(?:[^"\\]|\\.)*"|-?[\d.]+(?:[eE][-+]?\d+)?|[][(){}=:,]|\S')
_OPENING, _CLOSING = "([{", ")]}"
_NAME = re.compile(r"[^\W\d][\w-]*")
_NUMERAL = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_BOOLEANS = ("true", "false")


class Shape(Struct, frozen=True):
    """`inner` are the elements of a collection (one), of a tuple (each), or the attributes of an object."""

    kind: str  # one of PRIMITIVES, any, one of COLLECTIONS, tuple, object
    inner: tuple[Shape, ...] = ()
    names: tuple[str, ...] = ()  # of the attributes
    optional: frozenset[str] = frozenset()

    @property
    def attributes(self) -> Mapping[str, Shape]:
        return dict(zip(self.names, self.inner, strict=True))

    def __str__(self) -> str:
        """The type expression, without the defaults of optional attributes."""
        match self.kind:
            case "object":
                parts = (
                    f"{name} = {f'optional({shape})' if name in self.optional else shape}"
                    for name, shape in self.attributes.items()
                )
                return f"object({{{', '.join(parts)}}})"
            case "tuple":
                return f"tuple([{', '.join(map(str, self.inner))}])"
            case _:
                return f"{self.kind}({self.inner[0]})" if self.inner else self.kind


ANY = Shape("any")


def read_shape(text: str) -> Shape:
    """Read a type expression, its whitespace lost or not; what can't be understood takes anything."""
    tokens = _TOKEN.findall(text)[::-1]
    try:
        shape = _shape(tokens)
    except (IndexError, ValueError):
        return ANY
    return ANY if tokens else shape


def _shape(tokens: list[str]) -> Shape:
    """Take one type off the end of the reversed tokens. Raise IndexError or ValueError."""
    kind = tokens.pop()
    if kind in PRIMITIVES or kind == "any":
        return Shape(kind)
    if kind in COLLECTIONS and tokens[-1:] != ["("]:  # as written before 0.12
        return Shape(kind, (ANY,))
    _take(tokens, "(")
    shape = {**dict.fromkeys(COLLECTIONS, _collection), "object": _object, "tuple": _tuple}.get(kind, _unknown)(
        kind, tokens
    )
    _take(tokens, ")")
    return shape


def _unknown(kind: str, _tokens: list[str]) -> Shape:
    raise ValueError(kind)


def _collection(kind: str, tokens: list[str]) -> Shape:
    return Shape(kind, (_shape(tokens),))


def _tuple(_kind: str, tokens: list[str]) -> Shape:
    _take(tokens, "[")
    inner: list[Shape] = []
    while tokens[-1] != "]":
        inner.append(_shape(tokens))
        _skip_comma(tokens)
    _take(tokens, "]")
    return Shape("tuple", tuple(inner))


def _object(_kind: str, tokens: list[str]) -> Shape:
    """Attributes follow each other with or without a comma: a line's end may be lost."""
    _take(tokens, "{")
    found: dict[str, Shape] = {}
    optional: set[str] = set()
    while tokens[-1] != "}":
        name = tokens.pop()
        if not _NAME.fullmatch(name) or tokens.pop() not in "=:":
            raise ValueError(name)
        if tokens[-1] == "optional":
            optional.add(name)
            found[name] = _optional(tokens)
        else:
            found[name] = _shape(tokens)
        _skip_comma(tokens)
    _take(tokens, "}")
    return Shape("object", tuple(found.values()), tuple(found), frozenset(optional))


def _optional(tokens: list[str]) -> Shape:
    """Of `optional(TYPE, DEFAULT)` the type."""
    tokens.pop()
    _take(tokens, "(")
    shape, depth = _shape(tokens), 1
    while depth:
        token = tokens.pop()
        depth += (token in _OPENING) - (token in _CLOSING)
    return shape


def _take(tokens: list[str], token: str) -> None:
    if tokens.pop() != token:
        raise ValueError(token)


def _skip_comma(tokens: list[str]) -> None:
    if tokens[-1] == ",":
        tokens.pop()


def sample(shape: Shape, text: str) -> Json:
    """A value of a shape, with `text` wherever it takes one; optional attributes are left out."""
    inner = [sample(each, text) for each in shape.inner]
    match shape.kind:
        case "number" | "bool":
            return 1 if shape.kind == "number" else True
        case "list" | "set" | "tuple":
            return inner
        case "map":
            return {"stand-in": inner[0]}
        case "object":
            named = zip(shape.names, inner, strict=True)
            return {name: value for name, value in named if name not in shape.optional}
        case _:
            return text


def fits(shape: Shape, value: Json) -> bool:
    """Whether the engine certainly converts a value to a shape; `any` in a collection must be the same in all."""
    if value is None or shape.kind == "any":
        return True
    if shape.kind in PRIMITIVES:
        return _is_primitive(shape.kind, value)
    if isinstance(value, dict):
        of_map = shape.kind == "map" and _all_fit(shape.inner[0], list(value.values()))
        return of_map or (shape.kind == "object" and _has_attributes(shape, value))
    if not isinstance(value, list) or shape.kind in ("map", "object"):
        return False
    if shape.kind == "tuple":
        return len(value) == len(shape.inner) and all(map(fits, shape.inner, value))
    return _all_fit(shape.inner[0], value)


def _is_primitive(kind: str, value: Json) -> bool:
    """As the engine converts: a text can be a number or a boolean, and these can be a text."""
    if isinstance(value, list | dict):
        return False
    if kind == "number":
        return bool(_NUMERAL.fullmatch(value)) if isinstance(value, str) else not isinstance(value, bool)
    return kind == "string" or isinstance(value, bool) or value in _BOOLEANS


def _all_fit(shape: Shape, values: list[Json]) -> bool:
    alike = not _holds_any(shape) or len({shape_of(value) for value in values}) <= 1
    return alike and all(fits(shape, value) for value in values)


def _holds_any(shape: Shape) -> bool:
    return shape.kind == "any" or any(map(_holds_any, shape.inner))


def _has_attributes(shape: Shape, value: Mapping[str, Json]) -> bool:
    return all(
        fits(inner, value[name]) if name in value else name in shape.optional
        for name, inner in shape.attributes.items()
    )


def shape_of(value: Json) -> Shape:
    """The shape that a value has by itself."""
    match value:
        case bool():
            return Shape("bool")
        case int() | Decimal():
            return Shape("number")
        case str():
            return Shape("string")
        case list():
            return Shape("tuple", tuple(map(shape_of, value)))
        case dict():
            names = tuple(sorted(value))
            return Shape("object", tuple(shape_of(value[name]) for name in names), names)
        case _:
            return ANY
