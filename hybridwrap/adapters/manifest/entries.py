"""What a manifest says of each module, as values that can be compared with those of another commit."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from hybridwrap.adapters.manifest.environment import declared_environments
from hybridwrap.adapters.manifest.layers import layer
from hybridwrap.adapters.manifest.modules import Draft, draft_modules
from hybridwrap.adapters.manifest.node import empty, plain
from hybridwrap.adapters.manifest.parts import read_files, read_main
from hybridwrap.adapters.manifest.scope import Scope
from hybridwrap.adapters.manifest.settings import text
from hybridwrap.domain.json import Json, canonical

# What concerns no module, or is a part of the modules' own entries already.
_NOT_OF_MODULES = frozenset({"version", "include", "ledger", "stacks", "defaults", "environments", "modules"})


class Entry(Struct, frozen=True):
    """What is said of one module; `file` is where, as seen from the manifest's folder."""

    file: str
    fields: Mapping[str, Json]


def entries(
    file: Path, environment: str, environ: Mapping[str, str], declared: Mapping[str, frozenset[str]]
) -> Mapping[str, Entry]:
    """Read the entry of each module in an environment, with what lies below it; empty where there is no such one.

    `declared` are the variables of the modules: a default for others does not reach them. Raise InvalidManifest.
    """
    files = read_files(file)
    main = files.main.node
    if environment not in declared_environments(main):
        return {}
    scope = Scope(file, text(main.get("stack")), environment, environ, folders=files.folders)
    layered = layer(files, environment, scope.findings)
    common = {name: plain(node) for name, node in layered.root.fields.items() if name not in _NOT_OF_MODULES}
    stacks = plain(layered.root.get("stacks") or empty(main.mark))
    names = {part.shown: os.path.relpath(part.file, scope.root) for part in files.all}
    return {
        name: Entry(
            names.get(draft.node.key.file, file.name),
            {**common, **_with_stacks(_own(draft, scope, declared.get(name, frozenset())), stacks)},
        )
        for name, draft in draft_modules(layered, scope).items()
    }


def _own(draft: Draft, scope: Scope, declared: frozenset[str]) -> Mapping[str, Json]:
    found = {name: plain(node) for name, node in draft.node.fields.items()}
    inputs = draft.node.get("inputs")
    reached = {
        name: plain(node)
        for name, node in (inputs.fields if inputs else {}).items()
        if name in draft.own_inputs or name in declared
    }
    return {**found, "inputs": reached, "source": os.path.relpath(draft.source, scope.root)}


def _with_stacks(own: Mapping[str, Json], stacks: Mapping[str, Json]) -> Mapping[str, Json]:
    """Add where those other stacks are that the inputs may speak of."""
    inputs = canonical(own["inputs"]).decode()
    spoken_of = {name: told for name, told in stacks.items() if "stacks" in inputs and name in inputs}
    return {**own, "stacks": spoken_of} if spoken_of else own


def include_patterns(file: Path) -> tuple[str, ...]:
    """The glob patterns by which a manifest names further files. Raise InvalidManifest."""
    node = read_main(file).node.get("include")
    return tuple(str(pattern.value) for pattern in (node.items if node else ()))


def differing(before: Entry, now: Entry) -> Iterator[str]:
    """Name the fields that differ, inputs one by one."""
    for name in sorted({*before.fields, *now.fields} - {"inputs"}):
        if before.fields.get(name) != now.fields.get(name):
            yield name
    was, becomes = before.fields.get("inputs") or {}, now.fields.get("inputs") or {}
    yield from (
        f"inputs.{name}"
        for name in sorted({*was, *becomes})
        if (name in was, was.get(name)) != (name in becomes, becomes.get(name))
    )
