"""Terragrunt's hooks as those of a manifest, as far as both mean the same: programs around an apply."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from hybridwrap.adapters.terragrunt.counterparts import Loss
from hybridwrap.adapters.terragrunt.units import Unit
from hybridwrap.domain.json import Json

KINDS = {"before_hook": "before", "after_hook": "after", "error_hook": "error"}
_ELSEWHERE = "run it around hybridwrap: `hooks` are called by apply and destroy only, in the manifest's folder"


def hooks_of(unit: Unit, root: Path) -> Mapping[str, list[list[str]]]:
    """The hooks around an apply, for a manifest in the folder `root`."""
    found: dict[str, list[list[str]]] = {}
    for kind, _, block in _blocks(unit):
        if _is_ours(block):
            first, *words = map(str, block.get("execute") or [])
            found.setdefault(KINDS[kind], []).append([_program(first, unit, root), *words])
    return found


def lost_hooks(unit: Unit) -> Iterator[Loss]:
    for kind, name, block in _blocks(unit):
        if not _is_ours(block):
            yield Loss(f'{kind} "{name}"', _ELSEWHERE)
        elif block.get("run_on_error"):
            yield Loss(f'run_on_error of {kind} "{name}"', "name its program in `hooks: {error: …}`, too")


def _blocks(unit: Unit) -> Iterator[tuple[str, str, Mapping[str, Json]]]:
    for kind in KINDS:
        for name, block in sorted(unit.block("terraform", kind).items()):
            if isinstance(block, dict) and block.get("if") is not False:
                yield kind, name, block


def _is_ours(block: Mapping[str, Json]) -> bool:
    return "apply" in (block.get("commands") or ()) and bool(block.get("execute")) and not block.get("working_dir")


def _program(word: str, unit: Unit, root: Path) -> str:
    """A path is seen from the unit's folder, ours from the manifest's; a bare name is looked for on the PATH."""
    if "/" not in word or Path(word).is_absolute():
        return word
    return f"./{os.path.relpath(unit.folder / word, root)}"
