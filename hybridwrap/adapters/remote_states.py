"""The `terraform_remote_state` blocks of a root module, and what their expressions come to with its variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from hybridwrap.adapters.hcl import Attribute, Block
from hybridwrap.domain.json import Json
from hybridwrap.domain.stack import StateRead

TYPE = "terraform_remote_state"
WORKSPACE = "terraform.workspace"
NAME = re.compile(r"(?:var|local)\.[A-Za-z_][\w-]*|terraform\.workspace|path\.(?:module|root|cwd)")
QUOTED = re.compile(r'"((?:[^"\\$%]|\$\{[^{}"]*\}|\$(?!\{)|%(?!\{))*)"')
PART = re.compile(r"\$\{\s*([^{}]*?)\s*\}")
DEEPEST = 8  # locals that name locals

Files = Sequence[tuple[str, Block]]


class Unknown(ValueError):
    """An expression whose value nobody but the engine can tell."""


def state_reads(files: Files) -> Iterator[StateRead]:
    """Name the states that a module reads; `files` with the names that messages have for them."""
    local = {n: a for _, root in files for block in root.named("locals") for n, a in block.attributes.items()}
    defaults = {
        block.labels[0]: block.value("default")
        for _, root in files
        for block in root.named("variable")
        if block.labels and "default" in block.attributes
    }
    for file, root in files:
        for data in root.named("data"):
            if data.labels[:1] == (TYPE,):
                yield _read(data, file, local, defaults)


def _read(data: Block, file: str, local: Mapping[str, Attribute], defaults: Mapping[str, Json]) -> StateRead:
    workspace = data.attributes.get("workspace")
    literal, open_ones = _settings(data.attributes.get("config"))
    expressions = {name: _without_locals(text, local) for name, text in open_ones.items()}
    if workspace and not workspace.literal:
        expressions["workspace"] = _without_locals(workspace.text, local)
    backend = data.value("backend")
    used = {name[4:] for text in expressions.values() for name in NAME.findall(text) if name.startswith("var.")}
    return StateRead(
        name=data.labels[-1],
        backend=backend if isinstance(backend, str) else "",
        settings=literal,
        expressions=expressions,
        defaults={name: defaults[name] for name in sorted(used & defaults.keys())},
        workspace=str(workspace.value) if workspace and workspace.literal else "default",
        file=file,
        line=data.line,
    )


def _settings(config: Attribute | None) -> tuple[Mapping[str, Json], Mapping[str, str]]:
    """The settings that are written out, and the expressions of the others."""
    if config is None:
        return {}, {}
    if config.literal:
        return (config.value if isinstance(config.value, dict) else {}), {}
    if not config.entries:  # merge(…), a variable
        return {}, {"config": config.text}
    literal = {name: a.value for name, a in config.entries.items() if a.literal}
    return literal, {name: a.text for name, a in config.entries.items() if not a.literal}


def _without_locals(text: str, local: Mapping[str, Attribute]) -> str:
    """Put what locals stand for into an expression, as far as that is one that we can follow."""
    for _ in range(DEEPEST):
        named = {name for name in NAME.findall(text) if name.startswith("local.")}
        for name in named:
            if name[6:] not in local:
                return text
            inner = local[name[6:]].text
            text = inner if text == name else PART.sub(lambda m, n=name, i=inner: _spliced(m, n, i), text)  # type: ignore[misc]
        if not named:
            break
    return text


def _spliced(part: re.Match[str], name: str, inner: str) -> str:
    if part[1] != name:
        return part[0]
    return quoted[1] if (quoted := QUOTED.fullmatch(inner)) else f"${{{inner}}}"


def value_of(text: str, known: Mapping[str, Json]) -> str:
    """Evaluate an expression made of texts and names; `known` has `var.x` and `terraform.workspace`. Raise Unknown."""
    if NAME.fullmatch(text):
        return _known(text, known)
    if quoted := QUOTED.fullmatch(text):
        return PART.sub(lambda part: _known(part[1], known), quoted[1])
    raise Unknown(text)


def _known(name: str, known: Mapping[str, Json]) -> str:
    if name.startswith("path."):
        return "."
    value = known.get(name)
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return str(value)
    raise Unknown(name)
