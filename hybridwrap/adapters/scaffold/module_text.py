"""One module as it stands in a manifest: what is certain, what is likely as a comment, what is missing as a TODO."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from hybridwrap.adapters.manifest.var_files import read_var_file
from hybridwrap.adapters.scaffold.conventions import Files
from hybridwrap.adapters.scaffold.draft import Draft, Read
from hybridwrap.adapters.scaffold.reading import LOCAL_STATE, RootModule, is_complete
from hybridwrap.adapters.scaffold.yaml_text import comment, flow, yaml
from hybridwrap.domain.stack import Variable
from hybridwrap.errors import InvalidManifest

SHOWN = 6  # paths in a comment
_BACKEND_FILE = re.compile(r".*\.tfbackend|backend.*\.(hcl|tfvars)")
_NOT_IN_NAMES = re.compile(r"\W", re.ASCII)


def module_lines(draft: Draft, name: str) -> Iterator[str]:
    """Write a module's entry, at no indentation."""
    module = draft.modules[name]
    yield f"{yaml(name)}:"
    yield f"  source: {yaml(draft.shown(module.path))}"
    yield from (f"  {line}" for line in _fields(draft, name, module))


def _fields(draft: Draft, name: str, module: RootModule) -> Iterator[str]:
    evidence = draft.of(name)
    if module.problem:
        yield f"# TODO: it could not be read: {comment(module.problem)}"
    yield from _state(draft, name, module)
    if evidence.by_workspace:
        yield 'workspace: "{environment}"'
    yield from (f"# {comment(remark)}" for remark in evidence.remarks)
    yield from (_read(draft, name, read) for read in draft.reads.get(name, ()) if read.owner != name)
    for field, files in (("backend_config", evidence.backend_files), ("var_files", evidence.var_files)):
        if files and covers(files, evidence.environments):
            yield f"{field}: [{', '.join(yaml(each.written) for each in files)}]"
    others = _other_files(draft, name, module)
    if others:
        yield f"# var_files: [{', '.join(map(yaml, others[:SHOWN]))}]"
    yield from _inputs(draft, name, module)


def covers(files: Sequence[Files], environments: frozenset[str]) -> bool:
    """Whether the same words name the files of a module in each of its environments."""
    return all("" in each.found or environments <= each.environments for each in files)


def _other_files(draft: Draft, name: str, module: RootModule) -> list[str]:
    named = {path for files in draft.of(name).var_files for path in files.found.values()}
    return [draft.shown(module.path / file) for file in module.var_files if module.path / file not in named]


def _state(draft: Draft, name: str, module: RootModule) -> Iterator[str]:
    block = module.interface.backend
    if module.interface.cloud:
        yield "# TODO: a `cloud` block runs it elsewhere; hybridwrap says what to write instead"
    elif block is None or (block.type == "local" and "path" not in block.settings):
        if block or module.has_local_state or module.workspaces or _is_read(draft, name):
            path = f"{draft.shown(module.path)}/{LOCAL_STATE}".removeprefix("./")
            yield f"state: {{local: {{path: {yaml(path)}}}}}    # where it is now"
    elif not is_complete(block, {}) and not draft.of(name).backend_files:
        files = sorted(path.name for path in module.path.iterdir() if _BACKEND_FILE.fullmatch(path.name))
        named = ", ".join(yaml(f"{draft.shown(module.path)}/{file}") for file in files) or "FILE"
        yield f"# TODO: its {block.type} backend block is not complete; name the file that you give to init:"
        yield f"# backend_config: [{named}]"
        if module.last_init:
            yield f"# at its last init on this machine it was {comment(flow(module.last_init))}"


def _is_read(draft: Draft, name: str) -> bool:
    return any(read.owner == name for found in draft.reads.values() for read in found)


def _read(draft: Draft, name: str, read: Read) -> str:
    said = f"data.terraform_remote_state.{read.read.name} ({read.read.shown})"
    if not read.owner:
        at = f", {read.place}" if read.place else ", in a place that is computed"
        return f"# reads a state that no module here is known to keep{comment(at)}: {comment(said)}"
    if draft.where(read.owner) >= draft.where(name):
        return f"# comes after {read.owner}, whose state it reads: {comment(said)}"
    where = ", ".join(sorted(draft.where(read.owner)))
    return f"# reads the state of {read.owner}, which is in environment {where}; apply that first: {comment(said)}"


def _inputs(draft: Draft, name: str, module: RootModule) -> Iterator[str]:
    given = _given(draft, name)
    missing = [variable for variable in module.missing if variable.name not in given]
    secret = [v for v in missing if v.sensitive or v.ephemeral]
    other = [v for v in missing if v not in secret]
    if secret:
        yield "inputs:"
    elif other:
        yield "# inputs:"
    for variable in secret:
        yield f"  {variable.name}: {{from_env: {variable_name(name, variable.name)}}}{_about(module, variable)}"
    for variable in other:
        yield f"#   TODO {variable.name}: …{_about(module, variable)}{_suggestion(draft, name, variable)}"


def _given(draft: Draft, name: str) -> frozenset[str]:
    """Variables with a value in a file of every environment."""
    found: frozenset[str] = frozenset()
    for files in draft.of(name).var_files:
        named = [frozenset(_names(path)) for path in files.found.values()]
        found |= frozenset.intersection(*named)
    return found


def _names(path: Path) -> Iterator[str]:
    try:
        yield from read_var_file(path, path.name)
    except InvalidManifest:
        return


def variable_name(module: str, variable: str) -> str:
    """The environment variable for a secret of a module."""
    name = _NOT_IN_NAMES.sub("_", f"{module}_{variable}").upper()
    return name if not name[0].isdigit() else f"_{name}"


def _about(module: RootModule, variable: Variable) -> str:
    told = [part for part in (variable.type, module.descriptions.get(variable.name, "")) if part]
    return f"    # {comment(': '.join(told))}" if told else ""


def _suggestion(draft: Draft, name: str, variable: Variable) -> str:
    """The one output of that name, where there is one: it may well be meant."""
    having = [other for other, m in draft.certain.items() if variable.name in m.interface.outputs and other != name]
    if len(having) != 1:
        return ""
    return f'    # perhaps "{{{{ {reference(having[0], variable.name)} }}}}"'


def reference(module: str, output: str) -> str:
    plain = module.isidentifier() and output.isidentifier()
    return f"modules.{module}.{output}" if plain else f"modules['{module}']['{output}']"
