"""Puts the key and value of an instance into the expressions of a template, as literals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hybridwrap.adapters.jinja_sandbox import raw_tokens
from hybridwrap.adapters.templates import BadTemplate, is_template
from hybridwrap.domain.json import Json, canonical

Token = tuple[str, str]  # kind and text


def fill_each(text: str, each: Mapping[str, Json]) -> str:
    """Replace each.key, each.value and what is in it. Raise BadTemplate for what is not there."""
    tokens = raw_tokens(text)
    return "".join(_filled(tokens, each))


def _filled(tokens: list[Token], each: Mapping[str, Json]) -> Iterator[str]:
    at, before = 0, ""
    while at < len(tokens):
        kind, text = tokens[at]
        if (kind, text) == ("name", "each") and before != ".":
            value, at = _value(tokens, at + 1, dict(each))
            yield _literal(value)
        else:
            yield text
            at += 1
        before = text if kind != "whitespace" else before


def _value(tokens: list[Token], at: int, value: Json) -> tuple[Json, int]:
    """Follow the steps behind `each` as far as they lead into its value; what comes then is the expression's own."""
    shown = "each"
    while step := _step(tokens, at):
        name, length = step
        if not isinstance(value, dict | list):
            break
        try:
            value = value[int(name)] if isinstance(value, list) else value[name]
        except (LookupError, ValueError) as error:
            raise BadTemplate(f'{shown} has no "{name}" here') from error
        shown, at = f"{shown}.{name}", at + length
    if shown == "each":
        raise BadTemplate("each stands alone: there are each.key and each.value")
    return value, at


def _step(tokens: list[Token], at: int) -> tuple[str, int] | None:
    """A `.name` or `['name']` at a position, with the number of its tokens."""
    match tokens[at : at + 3]:
        case [("operator", "."), ("name" | "integer", name), *_]:
            return name, 2
        case [("operator", "["), ("string" | "integer", name), ("operator", "]")]:
            return name.strip("'\""), 3
    return None


def _literal(value: Json) -> str:
    text = canonical(value).decode()
    if is_template(text):
        raise BadTemplate("a value of for_each that is a template can only be a whole input")
    return "none" if value is None else f"({text})"
