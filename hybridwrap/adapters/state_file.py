"""Reads an engine's state, in every format that the engine itself reads; says clearly what it can't read.

Keeps: what is no state is never taken for an empty one, which would make everything again. The attributes of objects
are skipped undecoded but for the id, so that a large state costs little more than its size; outputs are exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Raw, Struct

from hybridwrap.adapters.state_legacy import read_modules
from hybridwrap.adapters.state_values import conforms
from hybridwrap.domain.json import loads
from hybridwrap.domain.state import EngineState, Instance, StateOutput
from hybridwrap.errors import StateUnreadable

_NULL: Final = Raw(b"null")
_NEWEST: Final = 4

_ENCODINGS: Final = {
    b"\xef\xbb\xbf": "saved as UTF-8 with a byte order mark",
    b"\xff\xfe": "saved as UTF-16",
    b"\xfe\xff": "saved as UTF-16",
    b"{\x00": "saved as UTF-16",
    b"\x00{": "saved as UTF-16",
}


class _File(Struct):
    version: int | None = None
    terraform_version: str = ""
    serial: int = 0
    lineage: str = ""
    outputs: dict[str, Raw] | None = None
    resources: Raw = _NULL
    check_results: Raw = _NULL
    modules: Raw = _NULL  # formats 1 to 3
    backend: Raw = _NULL  # the engine's note of its backend, not a state
    encrypted_data: Raw = _NULL
    encryption_version: Raw = _NULL


class _Output(Struct):
    value: Raw
    type: Raw
    sensitive: bool = False


class _Instance(Struct):
    index_key: int | float | str | None = None
    status: str | None = None
    deposed: str | None = None
    attributes: Raw = _NULL
    attributes_flat: dict[str, str] | None = None
    provider: str | None = None
    instance_provider: str | None = None


class _Resource(Struct):
    mode: str
    type: str
    name: str
    module: str = ""
    provider: str = ""
    instances: list[_Instance] | None = None


class _Attributes(Struct):
    id: Raw = _NULL


class _Check(Struct):
    config_addr: str = ""
    status: str = ""


_file = msgspec.json.Decoder(_File).decode
_output = msgspec.json.Decoder(_Output).decode
_resources = msgspec.json.Decoder(list[_Resource] | None).decode
_attributes = msgspec.json.Decoder(_Attributes | None).decode
_checks = msgspec.json.Decoder(list[_Check] | None).decode


def parse_state(data: bytes, place: str = "the engine's state") -> EngineState:
    """Read a state as it is stored; zero bytes give a state with `zero_bytes` set, and nothing in it.

    Raise StateUnreadable, naming the place.
    """
    if not data:
        return EngineState(lineage="", serial=0, zero_bytes=True)
    for mark, encoding in _ENCODINGS.items():
        if data.startswith(mark):
            raise StateUnreadable(f"{place} is {encoding}, which the engine refuses; save it as UTF-8 without a mark")
    try:
        return _read(_file(data))
    except (ValueError, RecursionError) as error:
        raise StateUnreadable(f"{place} can't be read: {_why(data, error)}; nothing was taken from it") from error


def worth_keeping(file: Path) -> bool:
    """Whether there is a state that says anything; one that can't be read may."""
    if not file.is_file():
        return False
    try:
        state = parse_state(file.read_bytes(), str(file))
    except StateUnreadable:
        return True
    return bool(state.instances or state.outputs or not state.readable)


def _why(data: bytes, error: Exception) -> str:
    if not data.strip():
        return "there is only white space in it"
    return str(error) if data.lstrip().startswith(b"{") else f"it is no JSON object ({error})"


def _read(file: _File) -> EngineState:
    if _NULL not in (file.encrypted_data, file.encryption_version):
        return EngineState(file.lineage, file.serial, readable=False)
    match file.version:
        case None:
            raise ValueError("it has no format version")
        case 4:
            return _read_current(file)
        case 1 | 2 | 3 if file.backend != _NULL:
            raise ValueError("it is the engine's note of its backend, not a state")
        case 1 | 2 | 3 as version:
            outputs, instances = read_modules(file.modules, version)
            return EngineState(file.lineage, file.serial, file.terraform_version, outputs, instances)
        case version:
            raise ValueError(f"state format {version} is not known, the newest known one is {_NEWEST}")


def _read_current(file: _File) -> EngineState:
    resources = [resource for resource in _resources(file.resources) or [] if resource.mode == "managed"]
    return EngineState(
        lineage=file.lineage,
        serial=file.serial,
        engine_version=file.terraform_version,
        outputs={name: _read_output(name, raw) for name, raw in (file.outputs or {}).items()},
        instances=tuple(instance for resource in resources for instance in _instances(resource)),
        instance_providers=any(_own_provider(i) for r in resources for i in r.instances or []),
        failed_checks=_failed_checks(file.check_results),
    )


def _read_output(name: str, raw: Raw) -> StateOutput:
    try:
        output = _output(raw)
    except msgspec.ValidationError as error:
        raise ValueError(f'output "{name}": {error}') from error
    value, kind = loads(bytes(output.value)), loads(bytes(output.type))
    if not conforms(value, kind):
        raise ValueError(f'the value of output "{name}" is not of its type')
    return StateOutput(value, kind, output.sensitive)


def _instances(resource: _Resource) -> Iterator[Instance]:
    name = (
        f"{resource.module}.{resource.type}.{resource.name}" if resource.module else f"{resource.type}.{resource.name}"
    )
    for instance in resource.instances or []:
        yield Instance(
            address=name + _index(instance.index_key),
            type=resource.type,
            provider=_own_provider(instance) or resource.provider,
            id=_id(instance),
            tainted=instance.status == "tainted",
            deposed=instance.deposed or "",
        )


def _own_provider(instance: _Instance) -> str:
    """OpenTofu's `for_each` on providers writes the provider on the instance."""
    return instance.provider or instance.instance_provider or ""


def _id(instance: _Instance) -> str:
    if instance.attributes_flat:
        return instance.attributes_flat.get("id", "")
    attributes = _attributes(instance.attributes)
    found = loads(bytes(attributes.id)) if attributes else None
    return "" if found is None or isinstance(found, dict | list) else str(found)


def _failed_checks(results: Raw) -> tuple[str, ...]:
    try:
        checks = _checks(results) or []
    except msgspec.ValidationError:  # of a shape that a later release may have given them
        return ()
    return tuple(check.config_addr for check in checks if check.status in {"fail", "error"})


def _index(key: float | str | None) -> str:
    """Write an instance key as the engine does: ready to be pasted back."""
    match key:
        case None:
            return ""
        case str():
            return f'["{_quoted(key)}"]'
        case _:
            return f"[{int(key)}]"


_ESCAPES: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t", '"': r"\"", "\\": r"\\"}


def _quoted(text: str) -> str:
    escaped = "".join(_ESCAPES.get(c) or (c if c.isprintable() else _code_point(c)) for c in text)
    return escaped.replace("${", "$${").replace("%{", "%%{")


def _code_point(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"  # noqa: PLR2004 - the end of the basic plane
