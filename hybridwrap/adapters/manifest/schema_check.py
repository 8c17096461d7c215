"""A manifest against its JSON Schema, with errors that a person can act on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from hybridwrap.adapters.manifest.node import Findings, Mark, Node, dotted, plain
from hybridwrap.adapters.manifest.wording import describe, did_you_mean
from hybridwrap.adapters.schemas import load_schema
from hybridwrap.domain.json import Json

if TYPE_CHECKING:
    from jsonschema import ValidationError

TYPES = {
    "object": "a mapping",
    "array": "a list",
    "string": "a text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
}
PLACEHOLDERS = ("stack", "environment", "module")


def check_schema(root: Node, findings: Findings) -> None:
    """Find every way in which the document is not of the form of schemas/stack.v1.json."""
    _check(root, load_schema("stack.v1"), findings)


def check_included(roots: Iterable[Node], findings: Findings) -> None:
    """The same for files that a manifest includes; what only the manifest itself can say is told as that."""
    whole = load_schema("stack.v1")
    schema = {"$defs": whole["$defs"], "$ref": "#/$defs/included"}
    for root in roots:
        own = {name: node for name, node in root.fields.items() if name in whole["properties"]}
        strange = own.keys() - whole["$defs"]["included"]["properties"].keys()
        for name in strange:
            message = f"`{name}` can only be said in the manifest that includes this file"
            findings.error(own[name].key, name, message)
        rest = {name: node for name, node in root.fields.items() if name not in strange}
        _check(replace(root, value=rest) if strange else root, schema, findings)


def _check(root: Node, schema: Json, findings: Findings) -> None:
    from jsonschema import Draft202012Validator

    for error in Draft202012Validator(schema).iter_errors(plain(root)):
        path = tuple(error.absolute_path)
        for mark, where, message in _explain(error, _at(root, path), path):
            findings.error(mark, dotted(where), message)


Found = tuple[Mark, tuple[str | int, ...], str]


def _at(root: Node, path: tuple[str | int, ...]) -> Node:
    node = root
    for step in path:
        node = node.fields[step] if isinstance(step, str) else list(node.items)[step]
    return node


def _explain(error: ValidationError, node: Node, path: tuple[str | int, ...]) -> Iterator[Found]:
    wanted: Any = error.validator_value
    schema: Any = error.schema
    if "propertyNames" in error.absolute_schema_path:
        name = str(error.instance)
        yield node.fields[name].key, (*path, name), _reason(error)
    elif error.validator == "additionalProperties":
        known = schema["properties"]
        for name in node.fields.keys() - known.keys():
            yield node.fields[name].key, (*path, name), f'unknown field "{name}"{did_you_mean(name, known)}'
    elif error.validator == "required":
        for name in wanted:
            if name not in node.fields:
                yield node.key, path, f'"{name}" is missing'
    else:
        yield node.mark, path, _reason(error)


def _reason(error: ValidationError) -> str:
    wanted: Any = error.validator_value
    value: Json = error.instance
    schema: Any = error.schema
    if error.validator == "type":
        words = " or ".join(TYPES[name] for name in ([wanted] if isinstance(wanted, str) else wanted))
        return f"must be {words}, this is {describe(value)}{_quoting(wanted, value)}"
    several = isinstance(wanted, list)
    if error.validator not in REASONS:
        return error.message
    return REASONS[error.validator].format(
        wanted=" or ".join(map(str, wanted)) if several else wanted,
        value=_printable(value),
        shown=describe(value),
        rule=schema.get("patternErrorMessage"),
    )


REASONS = {
    "pattern": '"{value}" does not fit: {rule}',
    "enum": "must be {wanted}, this is {shown}",
    "const": "must be {wanted}, this is {shown}",
    "minimum": "must be at least {wanted}, this is {value}",
    "maxProperties": "only one of these is possible",
    "not": "{value} is not allowed here: credentials go by environment only",
    "minLength": "must not be empty",
    "maxLength": "must have no more than {wanted} characters",
    "minItems": "must not be empty",
    "minProperties": "must not be empty",
}


def _printable(value: Json) -> str:
    """A value without what a terminal would obey."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in str(value))


def _quoting(wanted: Any, value: Json) -> str:
    if wanted != "string":
        return ""
    if isinstance(value, dict) and len(value) == 1 and next(iter(value)) in PLACEHOLDERS:
        return f'; write "{{{next(iter(value))}}}" in quotes'
    return "" if isinstance(value, dict | list | None) else f'; write "{str(value).lower()}" in quotes'
