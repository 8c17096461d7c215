"""Whether a value of an output is of the type that the state says, by the engine's own rules."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from itertools import starmap

from hybridwrap.domain.json import Json


def conforms(value: Json, kind: Json) -> bool:  # noqa: PLR0911 - one row for each kind of type
    """Check a value against a type expression such as "string" or ["list", "string"]; null is of every type."""
    if value is None:
        return _is_type(kind)
    match kind:
        case str():
            return _is_primitive(value, kind)
        case ["list" | "set", element]:
            return isinstance(value, list) and all(conforms(item, element) for item in value)
        case ["map", element]:
            return isinstance(value, dict) and all(conforms(item, element) for item in value.values())
        case ["tuple", list() as elements]:
            return isinstance(value, list) and _each(value, elements)
        case ["object", dict() as attributes, *_]:
            return isinstance(value, dict) and value.keys() == attributes.keys() and _attributes(value, attributes)
        case _:
            return False


def _is_type(kind: Json) -> bool:
    return kind in ("string", "number", "bool", "dynamic") if isinstance(kind, str) else isinstance(kind, list)


def _is_primitive(value: Json, kind: str) -> bool:
    """The engine takes a number or a bool where a string is due, and a string that reads as a number or a bool."""
    match kind:
        case "string":
            return isinstance(value, str | int | Decimal)
        case "number":
            return not isinstance(value, bool) and (isinstance(value, int | Decimal) or _is_number(value))
        case "bool":
            return isinstance(value, bool) or value in ("true", "false")
        case _:
            return kind == "dynamic" and isinstance(value, dict) and value.keys() == {"value", "type"}


def _is_number(value: Json) -> bool:
    try:
        return isinstance(value, str) and Decimal(value).is_finite()
    except InvalidOperation:
        return False


def _each(value: list[Json], elements: list[Json]) -> bool:
    return len(value) == len(elements) and all(starmap(conforms, zip(value, elements, strict=True)))


def _attributes(value: dict[str, Json], attributes: dict[str, Json]) -> bool:
    return all(conforms(value[name], kind) for name, kind in attributes.items())
