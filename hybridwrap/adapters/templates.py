"""Templates in a manifest's strings: which outputs they name, and their value once those are known."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hybridwrap.domain.json import Json
from hybridwrap.domain.stack import Reference

# By far the commonest template; it needs no template engine, whose import costs more than all else here.
BARE = re.compile(r"\{\{\s*modules\.([A-Za-z_][A-Za-z0-9_]*)\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")


class BadTemplate(ValueError):
    """A template that can be known wrong, or cannot be rendered with the values given; the text says why."""


def is_template(text: str) -> bool:
    return "{{" in text or "{%" in text


def references(text: str) -> tuple[Reference, ...]:
    """Name the outputs that a template uses, in the order in which it does. Raise BadTemplate."""
    if bare := BARE.fullmatch(text):
        return (Reference(*bare.groups()),)
    from hybridwrap.adapters.jinja_sandbox import find_references

    return find_references(text)


def render(text: str, values: Mapping[Reference, Json]) -> Json:
    """Give a template its value: of any type when it is exactly one `{{ … }}`, else a text. Raise BadTemplate.

    `values` holds every reference of the template. They are data: a value that looks like a template stays as it is.
    """
    if bare := BARE.fullmatch(text):
        return values[Reference(*bare.groups())]
    from hybridwrap.adapters.jinja_sandbox import evaluate

    return evaluate(text, values)
