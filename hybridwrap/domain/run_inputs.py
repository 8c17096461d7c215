"""What a run set out to give its modules, kept so that another machine can go on with it.

Keeps: the value of a secret is never in it, only where it came from.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.codec import plain, shaped
from hybridwrap.domain.inputs import Host, is_bare_reference, is_secret, outside_inputs
from hybridwrap.domain.json import Json, canonical, loads
from hybridwrap.domain.redaction import Redaction
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
    rest: str = ""  # of a value that is withheld for a known secret in it: the digest of what is left without that
    digest: str = ""  # of a secret: keyed, to tell whether it is another one by now; no key, no digest

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


def withheld(mask: Redaction, inputs: Mapping[str, RunInput]) -> dict[str, RunInput]:
    """Keep of a value with a known secret in it only where it stands, and how it can be known again there."""
    return {
        name: replace(one, value=None, sensitive=True, rest=rest_of(mask, one.value)) if mask.holds(one.value) else one
        for name, one in inputs.items()
    }


def with_digests(inputs: Mapping[str, RunInput], secrets: Mapping[str, Json], key: bytes) -> dict[str, RunInput]:
    """Note of each secret what tells it from another one."""
    return {
        name: replace(one, digest=hmac.digest(key, canonical(secrets[name]), "sha256").hex())
        if key and one.sensitive and name in secrets
        else one
        for name, one in inputs.items()
    }


def other_secrets(was: Mapping[str, RunInput], now: Mapping[str, RunInput]) -> tuple[str, ...]:
    """Name the secrets that are others by now, as far as both sides have digests."""
    both = ((name, was[name].digest, now[name].digest) for name in sorted(was) if name in now)
    return tuple(name for name, before, after in both if before and after and before != after)


def rest_of(mask: Redaction, value: Json) -> str:
    """Digest a value without its known secrets, in hex: no key is needed, as nothing of these is in it."""
    return hashlib.sha256(mask.text(canonical(value).decode()).encode()).hexdigest()


class Change(Struct, frozen=True):
    """One input that is not the same any more."""

    name: str
    was: str
    now: str

    def __str__(self) -> str:
        return f"{self.name} {self.was} -> {self.now}"


def changes(was: Mapping[str, RunInput], now: Mapping[str, RunInput]) -> tuple[Change, ...]:
    """Compare two descriptions of the inputs of one module; secrets by where they come from."""
    pairs = ((name, _undigested(was.get(name)), _undigested(now.get(name))) for name in sorted({*was, *now}))
    return tuple(_change(name, before, after) for name, before, after in pairs if before != after)


def _undigested(one: RunInput | None) -> RunInput | None:
    return replace(one, digest="") if one else None


def _change(name: str, was: RunInput | None, now: RunInput | None) -> Change:
    before, after = _told(was), _told(now)
    return Change(name, before, after if after != before else "another value")


def _told(one: RunInput | None) -> str:
    return NOT_SET if one is None else str(one)
