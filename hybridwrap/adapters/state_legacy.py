"""Reads engine states of the formats 1 to 3, which engines before 0.12 wrote and later ones still read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Raw, Struct

from hybridwrap.domain.json import loads
from hybridwrap.domain.state import Instance, StateOutput

_INDEX: Final = re.compile(r"\.(\d+)$")


class _Object(Struct):
    id: str = ""
    tainted: bool = False


class _Resource(Struct):
    type: str = ""
    provider: str = ""
    primary: _Object | None = None
    tainted: list[_Object] | None = None  # format 1 keeps them apart
    deposed: list[_Object] | None = None


class _Module(Struct):
    path: list[str]
    outputs: dict[str, Raw] | None = None
    resources: dict[str, _Resource] | None = None


class _Output(Struct):
    value: Raw
    type: Raw = Raw(b'"string"')
    sensitive: bool = False


_modules = msgspec.json.Decoder(list[_Module]).decode
_output = msgspec.json.Decoder(_Output).decode


def read_modules(data: Raw, version: int) -> tuple[dict[str, StateOutput], tuple[Instance, ...]]:
    """Read outputs of the root module, and the objects of all. Raise ValueError for what is no list of modules."""
    modules = _modules(data)
    outputs: dict[str, StateOutput] = {}
    for module in modules:
        if module.path == ["root"]:
            outputs |= {name: _read_output(raw, version) for name, raw in (module.outputs or {}).items()}
    return outputs, tuple(instance for module in modules for instance in _instances(module))


def _read_output(raw: Raw, version: int) -> StateOutput:
    if version == 1:
        return StateOutput(loads(bytes(raw)), "string", sensitive=False)
    output = _output(raw)
    return StateOutput(loads(bytes(output.value)), loads(bytes(output.type)), output.sensitive)


def _instances(module: _Module) -> Iterator[Instance]:
    prefix = "".join(f"module.{name}." for name in module.path[1:])
    for key, resource in (module.resources or {}).items():
        if key.startswith("data."):
            continue
        address = prefix + _INDEX.sub(r"[\1]", key)
        deposed = [(f"{number:08x}", old) for number, old in enumerate(resource.deposed or [], 1)]
        broken = [("", old) for old in resource.tainted or []]
        current = [("", resource.primary)] if resource.primary else []
        for name, held in [*current, *broken, *deposed]:
            tainted = held.tainted or (name, held) in broken
            yield Instance(address, resource.type, resource.provider, held.id, tainted=tainted, deposed=name)
