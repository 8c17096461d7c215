"""Templates in a manifest's strings: which outputs they name, and their value once those are known."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from hybridwrap.domain.json import Json
from hybridwrap.domain.stack import Reference

# By far the commonest template; it needs no template engine, whose import costs more than all else here.
NAME = r"[A-Za-z_][A-Za-z0-9_]*"
BARE = re.compile(rf"\{{\{{\s*modules\.({NAME}(?:\.{NAME})?)\.({NAME})\s*\}}\}}")

BARE_OF_STACK = re.compile(rf"\{{\{{\s*stacks\.({NAME})\.modules\.({NAME})\.({NAME})\s*\}}\}}")


class BadTemplate(ValueError):
    """A template that can be known wrong, or cannot be rendered with the values given; the text says why."""


def is_template(text: str) -> bool:
    return "{{" in text or "{%" in text


def references(text: str, families: Collection[str] = ()) -> tuple[Reference, ...]:
    """Name the outputs that a template uses, in the order in which it does. Raise BadTemplate.

    `families` are modules of which there is one for each value: there, a key comes between module and output.
    """
    if (bare := BARE.fullmatch(text)) and ("." in bare[1]) == (bare[1].partition(".")[0] in families):
        return (Reference(*bare.groups()),)
    if elsewhere := _of_stack(text):
        return (elsewhere,)
    from hybridwrap.adapters.jinja_sandbox import find_references

    return find_references(text, families)


def render(text: str, values: Mapping[Reference, Json]) -> Json:
    """Give a template its value: of any type when it is exactly one `{{ … }}`, else a text. Raise BadTemplate.

    `values` holds every reference of the template. They are data: a value that looks like a template stays as it is.
    """
    if (bare := BARE.fullmatch(text)) and (reference := Reference(*bare.groups())) in values:
        return values[reference]
    if elsewhere := _of_stack(text):
        return values[elsewhere]
    from hybridwrap.adapters.jinja_sandbox import evaluate

    return evaluate(text, values)


def _of_stack(text: str) -> Reference | None:
    bare = BARE_OF_STACK.fullmatch(text)
    return Reference(f"{bare[1]}/{bare[2]}", bare[3]) if bare else None
