"""Values that the caller gives with -var and -var-file: they beat the manifest's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.json import Json, loads
from hybridwrap.domain.stack import FromCaller, Module, Stack
from hybridwrap.errors import UsageError

PLAIN_TYPES = ("", "string", "any")


class Variables(Struct, frozen=True):
    """Values by name: those of files as they are read, those of -var as typed."""

    from_files: Mapping[str, Json] = {}
    texts: Mapping[str, str] = {}

    @property
    def names(self) -> frozenset[str]:
        return frozenset((*self.from_files, *self.texts))


def read_variables(settings: Sequence[str], files: Sequence[Path]) -> Variables:
    """Read NAME=VALUE and files, the later of a name wins. Raise UsageError, InvalidManifest."""
    return Variables(dict(_from_files(files)), dict(_from_settings(settings)))


def with_variables(stack: Stack, modules: Sequence[str], variables: Variables) -> Stack:
    """Give the selected modules that declare them these values instead of the manifest's.

    Raise UsageError for a name that none of them declares, or a value that does not fit.
    """
    declared = {name for module in modules for name in stack.modules[module].interface.variables}
    for name in (*variables.from_files, *variables.texts):
        if name not in declared:
            raise UsageError(f'no selected module declares the variable "{name}"')
    changed = {name: _with(stack.modules[name], variables) for name in modules}
    return replace(stack, modules={**stack.modules, **changed})


def _with(module: Module, variables: Variables) -> Module:
    declared = module.interface.variables
    given: dict[str, Json] = {name: value for name, value in variables.from_files.items() if name in declared}
    for name, text in variables.texts.items():
        if variable := declared.get(name):
            given[name] = text if variable.type in PLAIN_TYPES else _value(name, text, variable.type)
    return replace(module, inputs={**module.inputs, **{name: FromCaller(value) for name, value in given.items()}})


def _value(name: str, text: str, kind: str) -> Json:
    try:
        return loads(text)
    except ValueError:
        raise UsageError(f"-var {name}: the variable takes {kind}; write its value as JSON") from None


def _from_settings(settings: Sequence[str]) -> Iterator[tuple[str, str]]:
    for setting in settings:
        name, found, text = setting.partition("=")
        if not found or not name:
            raise UsageError("-var takes NAME=VALUE")
        yield name, text


def _from_files(files: Sequence[Path]) -> Iterator[tuple[str, Json]]:
    from hybridwrap.adapters.manifest.var_files import read_var_file

    for file in files:
        for name, value in read_var_file(file, str(file)).items():
            if value is None:
                raise UsageError(f"{file}: the value of {name} is not a plain value")
            yield name, value
