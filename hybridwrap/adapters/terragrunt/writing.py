"""Writes the manifest for Terragrunt's units, and what it can't say as comments at its end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hybridwrap.adapters.scaffold.module_text import reference, variable_name
from hybridwrap.adapters.scaffold.yaml_text import comment, flow, yaml
from hybridwrap.adapters.terragrunt.drafting import Drafted, Estate
from hybridwrap.adapters.terragrunt.states import common_settings
from hybridwrap.adapters.terragrunt.tracing import Output, Traced
from hybridwrap.counting import first_of
from hybridwrap.domain.inputs import is_secret
from hybridwrap.domain.json import Json, canonical

HEAD = """\
# A stack for hybridwrap, written by `hybridwrap new` from what Terragrunt rendered of its units; nothing was run.
# Look for TODO and at what is listed at the end, then: hybridwrap validate
version: 1
stack: {stack}
"""
SECRET_NAME = re.compile(r"(?i)secret|token|passw|passphrase|private|credential")
SHOWN = 6
_BUCKET = "`hybridwrap bootstrap` looks after the bucket"
_CREDENTIALS = "give credentials by the environment"


def manifest_text(estate: Estate) -> str:
    """Write YAML that hybridwrap reads, or whose problems are what only its user knows."""
    common = common_settings([drafted.state for drafted in estate.modules.values()])
    lines = [*HEAD.format(stack=yaml(estate.stack)).splitlines(), "", *_engine(estate), *_state(common), "modules:"]
    for name, drafted in estate.modules.items():
        lines.append(f"  {yaml(name)}:")
        lines += [f"    {line}" for line in _module(name, drafted, common)]
    return "\n".join([*lines, *_losses(estate)]) + "\n"


def _engine(estate: Estate) -> Iterator[str]:
    wish = {name: value for name, value in (("program", estate.program), ("version", estate.version)) if value}
    if wish:
        yield f"engine: {flow(wish)}"
        yield ""


def _state(common: Mapping[str, Json]) -> Iterator[str]:
    if common:
        yield "# The states stay where Terragrunt put them. The ledger goes beside them, under hybridwrap/."
        yield f"state: {{s3: {flow(common)}}}"
        yield ""


def _module(name: str, drafted: Drafted, common: Mapping[str, Json]) -> Iterator[str]:
    yield f"source: {yaml(drafted.source)}"
    if drafted.version:
        yield f"version: {yaml(drafted.version)}"
    if drafted.left_out:
        yield "enabled: false    # Terragrunt passes it by"
    yield from _own_state(drafted, common)
    fields: Mapping[str, Json] = {
        "depends_on": list(_after(name, drafted)),
        "protected": drafted.unit.tree.get("prevent_destroy") is True,
        "retry": dict(_retry(drafted)),
        "hooks": drafted.hooks,
        "env": drafted.env,
        "var_files": list(drafted.var_files),
    }
    yield from (f"{field}: {_shown(value)}" for field, value in fields.items() if value)
    yield from _inputs(name, drafted)


def _shown(value: Json) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(yaml, value))}]"
    return flow(value) if isinstance(value, dict) else yaml(value)


def _own_state(drafted: Drafted, common: Mapping[str, Json]) -> Iterator[str]:
    state = drafted.state
    if state.problem:
        yield f"# TODO: its state is of the backend {state.backend}: {comment(state.problem)}"
    elif state.backend:
        own = {name: value for name, value in state.settings.items() if common.get(name) != value}
        yield f"state: {{{state.backend}: {flow(own)}}}"


def _after(name: str, drafted: Drafted) -> tuple[str, ...]:
    """Modules that come first and give no value that could be traced."""
    written = (traced for input_, traced in drafted.traced.items() if input_ in drafted.inputs)
    giving = {o.dependency for traced in written for o in traced.pieces if isinstance(o, Output)}
    silent = [module for dependency, module in drafted.dependencies.items() if dependency not in giving]
    referred = {drafted.dependencies.get(dependency, "") for dependency in giving}
    found = dict.fromkeys([*silent, *drafted.after])
    return tuple(module for module in found if module and module not in {name, *referred})


def _retry(drafted: Drafted) -> Iterator[tuple[str, Json]]:
    """`errors.retry`, or the attributes of before."""
    unit = drafted.unit
    blocks = [block for block in unit.block("errors", "retry").values() if isinstance(block, dict)]
    older = {"max_attempts": "retry_max_attempts", "sleep_interval_sec": "retry_sleep_interval_sec"}
    blocks.append(
        {"retryable_errors": unit.tree.get("retryable_errors")} | {n: unit.tree.get(o) for n, o in older.items()}
    )
    patterns = [text for block in blocks for text in block.get("retryable_errors") or []]
    if patterns:
        yield "on", patterns
        for ours, theirs in (("attempts", "max_attempts"), ("wait", "sleep_interval_sec")):
            numbers = [block[theirs] for block in blocks if block.get(theirs)]
            if numbers:
                yield ours, max(numbers)


def _inputs(name: str, drafted: Drafted) -> Iterator[str]:
    lines = [f"  {line}" for input_, value in drafted.inputs.items() for line in _input(name, drafted, input_, value)]
    if lines:
        yield "inputs:" if any(not line.lstrip().startswith("#") for line in lines) else "# inputs:"
        yield from lines
    if drafted.undeclared:
        shown = comment(first_of(drafted.undeclared, SHOWN))
        yield f"# not declared by the module, and ignored by it so far: {shown}"


def _input(name: str, drafted: Drafted, input_: str, value: Json) -> Iterator[str]:
    traced = drafted.traced.get(input_)
    key = yaml(input_)
    if traced and traced.from_env:
        yield f"{key}: {{from_env: {traced.from_env}}}"
    elif traced:
        yield _reference(drafted, key, traced)
    elif _is_secret(drafted, input_):
        yield f"{key}: {{from_env: {variable_name(name, input_)}}}    # a secret: its value was left out"
    elif "{{" in canonical(value).decode():
        yield f"# TODO {key}: it holds {{{{, which begins a template"
    else:
        yield f"{key}: {yaml(value)}"


def _reference(drafted: Drafted, key: str, traced: Traced) -> str:
    outputs = [piece for piece in traced.pieces if isinstance(piece, Output)]
    lost = [piece.dependency for piece in outputs if not drafted.dependencies.get(piece.dependency)]
    if not outputs or lost:
        why = f"dependency {lost[0]} is not among these units" if lost else "it is computed from a dependency"
        return f"# TODO {key}: {comment(why)}; write it with {{{{ modules.NAME.OUTPUT }}}}"
    text = "".join(_piece(drafted, piece) for piece in traced.pieces)
    return f"{key}: {canonical(text).decode()}"


def _piece(drafted: Drafted, piece: str | Output) -> str:
    if isinstance(piece, str):
        return piece
    return f"{{{{ {reference(drafted.dependencies[piece.dependency], piece.output)}{piece.rest} }}}}"


def _is_secret(drafted: Drafted, input_: str) -> bool:
    """A secret by the module's word, or, where that can't be read, by its name."""
    if drafted.interface is None:
        return bool(SECRET_NAME.search(input_))
    return is_secret(drafted.interface.variables.get(input_))


def told_losses(estate: Estate) -> Iterator[str]:
    """Say what has no counterpart: what, in which modules, what to do instead; what is alike is said once."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, drafted in estate.modules.items():
        for loss in drafted.losses:
            found.setdefault((loss.what, loss.advice), []).append(name)
        for settings, advice in ((drafted.state.dropped, _BUCKET), (drafted.state.secret, _CREDENTIALS)):
            if settings:
                found.setdefault((f"remote_state: {', '.join(settings)}", advice), []).append(name)
    for (what, advice), names in found.items():
        yield f"{first_of(names, SHOWN)}: {what}: {advice}"


def _losses(estate: Estate) -> Iterator[str]:
    lines = list(told_losses(estate))
    if lines:
        yield ""
        yield "# What Terragrunt did that this manifest does not say:"
        yield from (f"# - {comment(line)}" for line in lines)
