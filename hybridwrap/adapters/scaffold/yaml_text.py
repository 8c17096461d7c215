"""Values and comments as they stand in a manifest."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hybridwrap.adapters.manifest.scalars import read_plain
from hybridwrap.domain.json import Json, canonical

_PLAIN = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_./-]*")


def yaml(value: Json) -> str:
    """Write a value so that it is read as it is: JSON is YAML, but for odd characters; a plain text needs no quotes."""
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        try:
            if read_plain(value) == value:
                return value
        except ValueError:  # it could be taken for something else
            pass
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in canonical(value).decode())


def flow(tree: Mapping[str, Json]) -> str:
    """Write a mapping in a line, with those in it."""
    values = {name: flow(value) if isinstance(value, Mapping) else yaml(value) for name, value in tree.items()}
    return "{" + ", ".join(f"{name}: {value}" for name, value in values.items()) + "}"


def comment(text: str) -> str:
    """Keep a text in its line."""
    return "".join(character if character.isprintable() else " " for character in text)
