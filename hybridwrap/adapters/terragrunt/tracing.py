"""Which inputs of a unit come out of another one: the rendered values no longer say so, the files still do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from hybridwrap.adapters.hcl import Attribute, read
from hybridwrap.adapters.terragrunt.units import Unit
from hybridwrap.domain.json import Json
from hybridwrap.errors import InvalidManifest

CONFIGURATION = "terragrunt.hcl"
_OUTPUT = r"dependency\.([A-Za-z_][\w-]*)\.outputs\.([A-Za-z_][\w-]*)((?:\[\d+\]|\[\"[^\"]*\"\]|\.[A-Za-z_]\w*)*)"
_WHOLE = re.compile(_OUTPUT)
_ASSIGNED = re.compile(rf"([A-Za-z_][\w-]*)\s*=\s*{_OUTPUT}(?=\s*(?:,|\}}|$|[A-Za-z_][\w-]*\s*=))")
_QUOTED = re.compile(r'"([^"\\]*)"')
_PART = re.compile(r"\$\{\s*([^{}]*?)\s*\}")
_ENV = re.compile(r'get_env\("([A-Za-z_]\w*)"(?:\s*,\s*"[^"]*")?\)')
_LITERAL_END = re.compile(r"([^{}()\"$]*)\"?\)*\s*\"?$")


class Output(Struct, frozen=True):
    """An output of a dependency; `rest` is what is taken out of it: `[0]`, `.id`."""

    dependency: str
    output: str
    rest: str = ""


class Traced(Struct, frozen=True):
    """Where an input comes from: pieces of text and outputs; the environment; or, with neither, it is computed."""

    pieces: tuple[str | Output, ...] = ()
    from_env: str = ""


def traced_inputs(unit: Unit) -> Mapping[str, Traced]:
    """Find the inputs that are no plain values, by the unit's own files and those that it includes.

    Without these files: by values that are those of a dependency's outputs, or of its mocks, and of no other one.
    """
    found: dict[str, Traced] = {}
    for file in _files(unit):
        try:
            inputs = read(file, file.name).attributes.get("inputs")
        except InvalidManifest:  # Terragrunt has read it; we can do without
            continue
        for name, traced in _traced(inputs) if inputs else ():
            found.setdefault(name, traced)
    return {**dict(_by_value(unit)), **found}


def _files(unit: Unit) -> Iterator[Path]:
    """The unit's file, those that it includes, and those that were named with the values."""
    own = unit.folder / CONFIGURATION
    candidates = [own, *_included(own), *unit.found_in.values()]
    yield from dict.fromkeys(path for path in candidates if path.is_file())


def _included(file: Path) -> Iterator[Path]:
    """Included files, by what is written out at the end of their paths: it lies in a folder above."""
    try:
        blocks = list(read(file, file.name).named("include")) if file.is_file() else []
    except InvalidManifest:
        return
    for block in blocks:
        path = block.attributes.get("path")
        end = _LITERAL_END.search(path.text) if path else None
        name = end[1].strip("/") if end else ""
        for folder in file.parent.parents:
            if name and (folder / name).is_file():
                yield folder / name
                break


def _traced(inputs: Attribute) -> Iterator[tuple[str, Traced]]:
    for name, attribute in inputs.entries.items():
        if traced := _of(attribute):
            yield name, traced
    if not inputs.entries:  # merge(…, {…})
        for found in _ASSIGNED.finditer(inputs.text):
            yield found[1], Traced((Output(*found.groups()[1:]),))


def _of(attribute: Attribute) -> Traced | None:
    if attribute.literal:
        return None
    if env := _ENV.fullmatch(attribute.text):
        return Traced(from_env=env[1])
    if whole := _WHOLE.fullmatch(attribute.text):
        return Traced((Output(*whole.groups()),))
    if "dependency." not in attribute.text:
        return None
    quoted = _QUOTED.fullmatch(attribute.text)
    return Traced(tuple(_pieces(quoted[1]))) if quoted else Traced()


def _pieces(text: str) -> Iterator[str | Output]:
    """The pieces of a quoted text; none where one of them is more than an output."""
    parts = _PART.split(text)
    if any(not _WHOLE.fullmatch(inner) for inner in parts[1::2]):
        return
    for at, part in enumerate(parts):
        whole = _WHOLE.fullmatch(part) if at % 2 else None
        if whole or part:
            yield Output(*whole.groups()) if whole else part


def _by_value(unit: Unit) -> Iterator[tuple[str, Traced]]:
    outputs = [
        (Output(name, output), value)
        for name in unit.block("dependency")
        for values in (unit.block("dependency", name, "outputs"), unit.block("dependency", name, "mock_outputs"))
        for output, value in values.items()
    ]
    for name, value in unit.block("inputs").items():
        same = {output for output, seen in outputs if _tells(value) and seen == value}
        if len(same) == 1:
            yield name, Traced((same.pop(),))


def _tells(value: Json) -> bool:
    """Whether a value is so particular that another one is hardly equal by chance."""
    return bool(value) and isinstance(value, str | list | dict)
