"""Whether a value can plainly not be what a variable's type asks for; what only the engine can tell is let pass."""

from __future__ import annotations

import re
from decimal import Decimal

from hybridwrap.adapters.manifest.wording import describe
from hybridwrap.adapters.templates import is_template
from hybridwrap.domain.json import Json

COLLECTION = re.compile(r"(list|set|map|object|tuple)\s*\((.*)\)", re.DOTALL)
NUMERAL = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
BOOLEANS = ("true", "false", "1", "0")
LISTS = ("list", "set", "tuple")


def mismatch(type_: str, value: Json, path: str = "") -> str:
    """Say why a value does not fit a type expression, "" when it may; `path` is where in the input it stands."""
    if value is None or (isinstance(value, str) and is_template(value)):
        return ""
    collection = COLLECTION.fullmatch(type_.strip())
    if collection is None:
        fits = _fits(type_.strip(), value)
        return "" if fits else _wanted(type_.strip(), value, path)
    kind, inner = collection.groups()
    if not isinstance(value, list if kind in LISTS else dict):
        return _wanted(type_, value, path)
    if kind in {"object", "tuple"}:
        return ""
    children = enumerate(value) if isinstance(value, list) else value.items()
    found = (mismatch(inner, child, f"{path}[{name}]") for name, child in children)
    return next(filter(None, found), "")


def _fits(primitive: str, value: Json) -> bool:
    """As the engine converts: a text can be a number, a number or a boolean can be a text."""
    match primitive:
        case "string":
            return not isinstance(value, list | dict)
        case "number":
            numeral = isinstance(value, str) and NUMERAL.fullmatch(value)
            return bool(numeral) or (isinstance(value, int | Decimal) and not isinstance(value, bool))
        case "bool":
            return isinstance(value, bool) or (isinstance(value, str) and value in BOOLEANS)
        case _:
            return True


def _wanted(type_: str, value: Json, path: str) -> str:
    shown = type_ if len(type_) <= len("map(string)") else f"{type_.partition('(')[0]}(…)"
    return f"takes {shown}, {path + ' ' if path else 'this '}is {describe(value)}"
