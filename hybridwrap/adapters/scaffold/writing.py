"""Writes the manifest for root modules: what is certain; what is likely as a comment; what is missing as a TODO."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from hybridwrap.adapters.manifest.scalars import read_plain
from hybridwrap.adapters.scaffold.reading import LOCAL_STATE, RootModule
from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.stack import Variable
from hybridwrap.domain.state import StatePlace

HEAD = """\
# A stack for hybridwrap, written by `hybridwrap new` from the root modules below this folder; nothing was run.
# Look for TODO, then: hybridwrap validate
version: 1
stack: {stack}
"""
_PLAIN = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_./-]*")
_SHARED = ("bucket", "region", "profile", "endpoint", "use_path_style", "force_path_style")
_BACKEND_FILE = re.compile(r".*\.tfbackend|backend.*\.(hcl|tfvars)")
_NOT_IN_NAMES = re.compile(r"\W", re.ASCII)
SHOWN = 6  # paths in a comment


class Draft(Struct, frozen=True):
    """What is written: modules by name, and which of them may be libraries."""

    stack: str
    root: Path
    modules: Mapping[str, RootModule]
    doubtful: frozenset[str] = frozenset()
    left_out: Sequence[Path] = ()
    tofu: bool = False

    @property
    def certain(self) -> Mapping[str, RootModule]:
        return {name: module for name, module in self.modules.items() if name not in self.doubtful}

    def shown(self, path: Path) -> str:
        return os.path.relpath(path, self.root)


def manifest_text(draft: Draft) -> str:
    """Write YAML that hybridwrap reads, or whose problems are the values that only its user knows."""
    lines = [*HEAD.format(stack=yaml(draft.stack)).splitlines(), "", *_engine(draft), "", *_state(draft), ""]
    lines += ["modules:", *_modules(draft), *_doubtful(draft), *_left_out(draft)]
    return "\n".join(lines) + "\n"


def yaml(value: Json) -> str:
    """Write a value so that it is read as it is: JSON is YAML, but for odd characters; a plain text needs no quotes."""
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        try:
            if read_plain(value) == value:
                return value
        except ValueError:  # it could be taken for something else
            pass
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in canonical(value).decode())


def _flow(tree: Mapping[str, Json]) -> str:
    return "{" + ", ".join(f"{name}: {yaml(value)}" for name, value in tree.items()) + "}"


def _engine(draft: Draft) -> Iterator[str]:
    if draft.tofu:
        yield "engine: {program: tofu}"
    else:
        yield '# engine: {program: auto, version: ">= 1.10"}    # terraform, then tofu, on the PATH'


def _state(draft: Draft) -> Iterator[str]:
    common = _common_s3(draft)
    if common:
        yield "# The modules keep their states in this bucket, as their own backend blocks say. The ledger goes beside"
        yield "# them, under hybridwrap/; a module without a block would keep its state here, too."
        yield f"state: {{s3: {_flow(common)}}}"
        return
    buckets = sorted({m.place.bucket for m in draft.certain.values() if m.place and m.place.backend == "s3"})
    if buckets:
        yield f"# The states lie in {', '.join(buckets)}. For a ledger that others can see, say in which bucket:"
        yield f"# ledger: {{s3: {{bucket: {yaml(buckets[0])}}}}}"
    else:
        yield "# States and ledger stay on this machine, below .hybridwrap/. To share them:"
        yield "# state: {s3: {bucket: …, region: …}}    # next: hybridwrap bootstrap"


def _common_s3(draft: Draft) -> Mapping[str, Json]:
    """What all S3 backend blocks have in common; nothing where one is not complete or they name several buckets."""
    blocks = [m.interface.backend for m in draft.certain.values() if m.interface.backend]
    s3 = [block.settings for block in blocks if block.type == "s3"]
    if not s3 or any(not (block.get("bucket") and block.get("key")) for block in s3):
        return {}
    same = {name: s3[0][name] for name in _SHARED if name in s3[0] and all(b.get(name) == s3[0][name] for b in s3)}
    common = {name: value for name, value in same.items() if value != "..."}
    return common if "bucket" in common else {}


def _modules(draft: Draft) -> Iterator[str]:
    for name, module in draft.certain.items():
        yield f"  {yaml(name)}:"
        yield f"    source: {yaml(draft.shown(module.path))}"
        yield from (f"    {line}" for line in _module(draft, name, module))


def _module(draft: Draft, name: str, module: RootModule) -> Iterator[str]:
    if module.problem:
        yield f"# TODO: it could not be read: {_comment(module.problem)}"
    yield from _module_state(draft, module)
    yield from _needs(draft, name, module)
    if module.var_files:
        files = ", ".join(yaml(f"{draft.shown(module.path)}/{file}") for file in module.var_files[:SHOWN])
        yield f"# var_files: [{files}]"
    yield from _inputs(draft, name, module)


def _module_state(draft: Draft, module: RootModule) -> Iterator[str]:
    block = module.interface.backend
    if module.interface.cloud:
        yield "# TODO: a `cloud` block runs it elsewhere; hybridwrap says what to write instead"
    elif block is None and (module.has_local_state or _is_read(draft, module)):
        path = f"{draft.shown(module.path)}/{LOCAL_STATE}"
        yield f"state: {{local: {{path: {yaml(path)}}}}}    # where it is now"
    elif block is not None and module.place is None:
        files = sorted(path.name for path in module.path.iterdir() if _BACKEND_FILE.fullmatch(path.name))
        named = ", ".join(yaml(f"{draft.shown(module.path)}/{file}") for file in files) or "FILE"
        yield f"# TODO: its {block.type} backend block is not complete; name the file that you give to init:"
        yield f"# backend_config: [{named}]"


def _is_read(draft: Draft, module: RootModule) -> bool:
    return module.place is not None and any(
        read.place == module.place for other in draft.modules.values() for read in other.reads
    )


def _needs(draft: Draft, name: str, module: RootModule) -> Iterator[str]:
    owners = {m.place: other for other, m in draft.certain.items() if m.place is not None}
    found: dict[str, list[str]] = {}
    for read in module.reads:
        owner = owners.get(read.place) if read.place else None
        said = f"data.terraform_remote_state.{read.name} ({read.shown})"
        if owner is None:
            yield f"# reads a state that no module here is known to keep{_at(read.place)}: {said}"
        elif owner != name:
            found.setdefault(owner, []).append(said)
    if found:
        reads = "; ".join(", ".join(said) for said in found.values())
        yield f"depends_on: [{', '.join(sorted(found))}]    # it reads what they leave: {_comment(reads)}"


def _at(place: StatePlace | None) -> str:
    return f", {place}" if place else ""


def _inputs(draft: Draft, name: str, module: RootModule) -> Iterator[str]:
    secret = [v for v in module.missing if v.sensitive or v.ephemeral]
    other = [v for v in module.missing if v not in secret]
    if secret:
        yield "inputs:"
    elif other:
        yield "# inputs:"
    for variable in secret:
        yield f"  {variable.name}: {{from_env: {_variable_name(name, variable)}}}{_about(module, variable)}"
    for variable in other:
        yield f"#   TODO {variable.name}: …{_about(module, variable)}{_suggestion(draft, name, variable)}"


def _variable_name(module: str, variable: Variable) -> str:
    name = _NOT_IN_NAMES.sub("_", f"{module}_{variable.name}").upper()
    return name if not name[0].isdigit() else f"_{name}"


def _about(module: RootModule, variable: Variable) -> str:
    told = [part for part in (variable.type, module.descriptions.get(variable.name, "")) if part]
    return f"    # {_comment(': '.join(told))}" if told else ""


def _suggestion(draft: Draft, name: str, variable: Variable) -> str:
    """The one output of that name, where there is one: it may well be meant."""
    having = [other for other, m in draft.certain.items() if variable.name in m.interface.outputs and other != name]
    if len(having) != 1:
        return ""
    return f'    # perhaps "{{{{ {_reference(having[0], variable.name)} }}}}"'


def _reference(module: str, output: str) -> str:
    plain = module.isidentifier() and output.isidentifier()
    return f"modules.{module}.{output}" if plain else f"modules['{module}']['{output}']"


def _doubtful(draft: Draft) -> Iterator[str]:
    if draft.doubtful:
        yield "  # These may be libraries: no backend, no provider, no values, never run from where they lie."
    for name in sorted(draft.doubtful):
        yield f"  # {name}: {{source: {yaml(draft.shown(draft.modules[name].path))}}}"


def _left_out(draft: Draft) -> Iterator[str]:
    if draft.left_out:
        shown = ", ".join(draft.shown(path) for path in draft.left_out[:SHOWN])
        more = f" and {len(draft.left_out) - SHOWN} more" if len(draft.left_out) > SHOWN else ""
        yield f"  # Not looked at: {_comment(shown)}{more}"


def _comment(text: str) -> str:
    """Keep a text in its line."""
    return "".join(character if character.isprintable() else " " for character in text)
