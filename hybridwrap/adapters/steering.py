"""Which variables of a module may steer what its providers talk to: a made-up value for one could lead elsewhere.

Rather too many than too few: whatever a provider block mentions is followed by kind, not by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from hybridwrap.adapters.hcl import Block, read
from hybridwrap.adapters.introspection import VARIABLE_USED
from hybridwrap.adapters.source import closure, config_files

# What an expression may mention -> blocks that give it its value.
SOURCES = {"local": "locals", "data": "data", "module": "module", "ephemeral": "ephemeral"}
_PROVIDER = re.compile(rb'^\s*provider\s+"|"provider"\s*:', re.MULTILINE)


def steering(folder: Path, *, tofu: bool) -> frozenset[str]:
    """Name the variables. Raise InvalidManifest for a source with a syntax error."""
    roots = [read(file, str(file)) for file in config_files(folder, tofu=tofu)]
    kinds = ["provider", *(["module"] if _children_have_providers(folder) else [])]
    texts: list[str] = []
    for kind in kinds:
        found = [text for root in roots for text in _texts_of(root, kind)]
        kinds += [of for word, of in SOURCES.items() if of not in kinds and _mentions(found, word)]
        texts += found
    return frozenset(name for text in texts for name in VARIABLE_USED.findall(text))


def _mentions(texts: list[str], word: str) -> bool:
    return any(re.search(rf"\b{word}\.", text) for text in texts)


def _texts_of(root: Block, kind: str) -> Iterator[str]:
    for block in root.named(kind):
        yield from _texts(block)
    if kind in root.attributes:  # the JSON form, where it is one large value
        yield root.attributes[kind].text


def _texts(block: Block) -> Iterator[str]:
    yield from (attribute.text for attribute in block.attributes.values())
    for inner in block.blocks:
        yield from _texts(inner)


def _children_have_providers(folder: Path) -> bool:
    return any(
        _PROVIDER.search(file.read_bytes()) for child in closure(folder)[1:] for file in config_files(child, tofu=True)
    )
