"""What a run set out to give its modules, kept so that another machine can go on with it.

Keeps: the value of a secret is never in it, only where it came from.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from hybridwrap.domain.codec import plain, shaped
from hybridwrap.domain.inputs import Host, is_bare_reference, is_secret, outside_inputs
from hybridwrap.domain.json import Json, canonical, loads
from hybridwrap.domain.stack import FromCaller, FromEnv, FromFile, Input, Literal, Module, Reference

NOT_SET = "(not set)"


class Origin(StrEnum):
    MANIFEST = "manifest"  # a value, or a tree with templates; of a secret nothing
    CALLER = "caller"  # -var or -var-file
    ENV = "env"
    FILE = "file"  # relative to the manifest's folder
    OUTSIDE = "outside"  # it reaches the engine by itself: TF_VAR_ or a variable file


class RunInput(Struct, frozen=True):
    """One input as a run had it; `value` is None for a secret, which is at `where` or nowhere to be had again."""

    origin: Origin
    value: Json = None
    where: str = ""
    sensitive: bool = False
    references: tuple[Reference, ...] = ()

    def __str__(self) -> str:
        if self.origin in (Origin.ENV, Origin.FILE):
            return f"{self.origin}:{self.where}"
        if self.sensitive:
            return f"(secret, {self.where or self.origin})"
        return canonical(self.value).decode()


RunInputs = Mapping[str, Mapping[str, RunInput]]


def encode_inputs(inputs: RunInputs) -> bytes:
    return canonical(plain(inputs))


def decode_inputs(data: bytes) -> RunInputs:
    """Raise LedgerDamaged."""
    return shaped(loads(data), dict[str, dict[str, RunInput]], "the inputs of a run")


def described(modules: Iterable[Module], host: Host, root: Path) -> dict[str, dict[str, RunInput]]:
    """Describe all inputs of modules of the manifest in the folder `root`."""
    return {module.name: inputs_of(module, host, root) for module in modules}


def inputs_of(module: Module, host: Host, root: Path) -> dict[str, RunInput]:
    outside = {
        name: RunInput(Origin.OUTSIDE, kept.value, kept.reference, kept.sensitive)
        for name, _, kept in outside_inputs(module, host)
    }
    return outside | {name: _described(module, name, source, root) for name, source in module.inputs.items()}


def _described(module: Module, name: str, source: Input, root: Path) -> RunInput:
    secret = is_secret(module.interface.variables.get(name))
    match source:
        case FromEnv(variable):
            return RunInput(Origin.ENV, where=variable, sensitive=True)
        case FromFile(path):
            return RunInput(Origin.FILE, where=os.path.relpath(path, root), sensitive=True)
        case FromCaller(value):
            return RunInput(Origin.CALLER, None if secret else value, sensitive=secret)
        case Literal(tree, references):
            if secret and not is_bare_reference(source):
                return RunInput(Origin.MANIFEST, sensitive=True)
            return RunInput(Origin.MANIFEST, tree, references=references)


class Change(Struct, frozen=True):
    """One input that is not the same any more."""

    name: str
    was: str
    now: str

    def __str__(self) -> str:
        return f"{self.name} {self.was} -> {self.now}"


def changes(was: Mapping[str, RunInput], now: Mapping[str, RunInput]) -> tuple[Change, ...]:
    """Compare two descriptions of the inputs of one module; secrets by where they come from."""
    return tuple(
        Change(name, _told(was.get(name)), _told(now.get(name)))
        for name in sorted({*was, *now})
        if was.get(name) != now.get(name)
    )


def _told(one: RunInput | None) -> str:
    return NOT_SET if one is None else str(one)
