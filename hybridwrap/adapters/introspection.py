"""What a root module declares, read from its source without an engine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from hybridwrap.adapters.hcl import Attribute, Block, read
from hybridwrap.adapters.remote_states import state_reads
from hybridwrap.adapters.source import config_files, is_override
from hybridwrap.domain.stack import BackendBlock, DeclaredOutput, Interface, Variable
from hybridwrap.errors import InvalidManifest, Problem

VARIABLE_USED = re.compile(r"\bvar\.([A-Za-z_][A-Za-z0-9_-]*)")

Files = list[tuple[str, Block]]  # with the names for messages, overrides last


def introspect(folder: Path, shown: str, *, tofu: bool) -> Interface:
    """Read the interface of the module in a folder; `shown` is the folder's name in messages.

    Raise InvalidManifest with every syntax error, or when the folder holds no configuration.
    """
    files: Files = []
    problems: list[Problem] = []
    for path in _config_files(folder, shown, tofu=tofu):
        name = os.path.join(shown, path.name)  # noqa: PTH118  # a text for people
        try:
            files.append((name, read(path, name)))
        except InvalidManifest as error:
            problems += error.problems
    if not files and not problems:
        problems = [Problem(shown, 0, 0, "", "holds no .tf file")]
    if problems:
        raise InvalidManifest(problems)
    return _interface(files, tofu=tofu)


def _config_files(folder: Path, shown: str, *, tofu: bool) -> tuple[Path, ...]:
    try:
        return config_files(folder, tofu=tofu)
    except OSError as error:
        raise InvalidManifest([Problem(shown, 0, 0, "", f"cannot be read: {error.strerror}")]) from error


def _interface(files: Files, *, tofu: bool) -> Interface:
    early = _early_variables(files) if tofu else frozenset()
    variables = {name: _variable(name, *found, early=early) for name, found in _merged(files, "variable").items()}
    outputs = {name: _output(name, *found) for name, found in _merged(files, "output").items()}
    backend, cloud = _state_blocks(files)
    return Interface(
        variables,
        outputs,
        backend,
        cloud=cloud,
        required_version=_constraints(files),
        protected=_protected(files),
        state_reads=tuple(state_reads(files)),
    )


def _merged(files: Files, type_: str) -> dict[str, tuple[Mapping[str, Attribute], int]]:
    """Attributes and line of each block with one label; a block in an override file replaces what it says."""
    found: dict[str, tuple[Mapping[str, Attribute], int]] = {}
    for file, root in files:
        for block in root.named(type_):
            name = block.labels[0] if block.labels else ""
            before, line = found.get(name, ({}, block.line))
            found[name] = ({**before, **block.attributes} if is_override(Path(file).name) else block.attributes, line)
    return found


def _variable(name: str, attributes: Mapping[str, Attribute], line: int, *, early: frozenset[str]) -> Variable:
    return Variable(
        name,
        type=attributes["type"].text.strip('"') if "type" in attributes else "",
        required="default" not in attributes,
        sensitive=_is_true(attributes, "sensitive"),
        ephemeral=_is_true(attributes, "ephemeral"),
        const=_is_true(attributes, "const") or name in early,
        line=line,
    )


def _output(name: str, attributes: Mapping[str, Attribute], line: int) -> DeclaredOutput:
    return DeclaredOutput(name, sensitive=_is_true(attributes, "sensitive"), line=line)


def _is_true(attributes: Mapping[str, Attribute], name: str) -> bool:
    return name in attributes and attributes[name].value is True


def _terraform_blocks(files: Files) -> Iterator[tuple[str, Block]]:
    return ((name, block) for name, root in files for block in root.named("terraform"))


def _state_blocks(files: Files) -> tuple[BackendBlock | None, bool]:
    """The backend block that counts, and whether a cloud block does; the last one said replaces the others."""
    backend, cloud = None, False
    for file, terraform in _terraform_blocks(files):
        for block in terraform.blocks:
            if block.type == "backend":
                settings = {name: a.value for name, a in block.attributes.items()}
                settings |= {inner.type: "..." for inner in block.blocks}
                backend, cloud = BackendBlock("".join(block.labels[:1]), settings, file, block.line), False
            elif block.type == "cloud":
                backend, cloud = None, True
    return backend, cloud


def _constraints(files: Files) -> tuple[str, ...]:
    """Version constraints, also OpenTofu's `language { compatible_with { opentofu = … } }`."""
    found = [block.value("required_version") for _, block in _terraform_blocks(files)]
    for _, root in files:
        found += [c.value("opentofu") for block in root.named("language") for c in block.named("compatible_with")]
    return tuple(text for text in found if isinstance(text, str))


def _protected(files: Files) -> tuple[str, ...]:
    return tuple(
        sorted(
            ".".join(block.labels)
            for _, root in files
            for block in root.named("resource")
            if any(lifecycle.value("prevent_destroy") is True for lifecycle in block.named("lifecycle"))
        )
    )


def _early_variables(files: Files) -> frozenset[str]:
    """Variables in backend blocks and module sources: OpenTofu needs them in nearly every command."""
    attributes = [
        a
        for _, root in files
        for m in root.named("module")
        for n, a in m.attributes.items()
        if n in {"source", "version"}
    ]
    for _, terraform in _terraform_blocks(files):
        attributes += [a for backend in terraform.named("backend") for a in backend.attributes.values()]
    return frozenset(name for a in attributes for name in VARIABLE_USED.findall(a.text))
