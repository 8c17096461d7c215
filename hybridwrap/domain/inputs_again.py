"""The inputs of a run, given to its modules again: perhaps later, perhaps on another machine, in another checkout."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from hybridwrap.domain.graph import cycle
from hybridwrap.domain.inputs import Host, outside_inputs
from hybridwrap.domain.json import Json
from hybridwrap.domain.redaction import Redaction
from hybridwrap.domain.run_inputs import Origin, RunInput, RunInputs, rest_of
from hybridwrap.domain.stack import FromCaller, FromEnv, FromFile, Input, Literal, Module, Reference, Stack
from hybridwrap.errors import PreflightRefused

Inputs = Mapping[str, RunInput]
MaskOf = Callable[[Stack], Redaction]


def with_inputs_of_run(stack: Stack, inputs: RunInputs, run: str, host: Host, mask_of: MaskOf) -> Stack:
    """Give modules the inputs that they had in a run; what the caller gives now beats them.

    What the run did not keep, as a known secret stands in it, is taken from where it stands if it is the same there.
    Raise PreflightRefused with all that can't be had any more, or does not fit the modules any more.
    """
    again = {name: _again(stack.modules[name], kept, host, stack.root) for name, kept in inputs.items()}
    restored = replace(stack, modules={**stack.modules, **again})
    problems = [problem for name, kept in inputs.items() for problem in _problems(restored, name, kept, host)]
    problems += _changed(restored, inputs, host, mask_of)
    circle = cycle({name: module.needs for name, module in restored.modules.items()})
    if circle:
        problems.append(f"with them the modules need each other in a circle: {' -> '.join(circle)}")
    if problems:
        raise PreflightRefused(
            "\n".join([f"the inputs of run {run} can't be used as they were:", *problems, "nothing was run"]),
            hint="give what is missing with -var, or take the manifest's: hybridwrap resume --inputs current",
        )
    return restored


def _again(module: Module, kept: Inputs, host: Host, root: Path) -> Module:
    inputs: dict[str, Input] = {n: source for n, source in module.inputs.items() if isinstance(source, FromCaller)}
    for name, one in kept.items():
        if name not in inputs and (source := _source(module, name, one, root)):
            inputs[name] = source
    now = {name: value for name, value, _ in outside_inputs(replace(module, inputs=inputs), host)}
    for name, one in kept.items():
        changed = one.origin is Origin.OUTSIDE and not one.sensitive and now.get(name) != one.value
        if changed and name not in inputs:
            inputs[name] = FromCaller(one.value)
    return replace(module, inputs=inputs)


def _source(module: Module, name: str, kept: RunInput, root: Path) -> Input | None:
    """None for what the engine finds by itself, and for a secret that is written down nowhere."""
    match kept.origin:
        case Origin.ENV:
            return FromEnv(kept.where)
        case Origin.FILE:
            return FromFile(Path(os.path.normpath(root / kept.where)), kept.where)
        case Origin.CALLER if not kept.sensitive:
            return FromCaller(kept.value)
        case Origin.MANIFEST if not kept.sensitive:
            return Literal(kept.value, kept.references)
        case Origin.MANIFEST:
            now = module.inputs.get(name)
            return now if isinstance(now, Literal) else None
    return None


def _problems(stack: Stack, name: str, kept: Inputs, host: Host) -> Iterator[str]:
    """Say what is missing, and what does not fit the module's source as it is now."""
    module = stack.modules[name]
    outside = {variable for variable, _, _ in outside_inputs(module, host)}
    there = {*module.inputs, *outside}
    for variable, one in kept.items():
        if variable not in module.interface.variables:
            yield f"{name}.{variable}: the module declares no such variable any more"
        elif one.sensitive and (variable not in there or _not_given_again(module, variable, one)):
            yield f"{name}.{variable}: {_whereabouts(one)}"
    for variable, declared in module.interface.variables.items():
        if declared.required and variable not in {*there, *kept}:
            yield f"{name}.{variable}: the module needs it now, and the run did not have it"
    for reference in module.references:
        if not _is_declared(stack, reference):
            yield f"{name}: it used {reference}, which is not declared any more"


def _not_given_again(module: Module, variable: str, kept: RunInput) -> bool:
    """Whether something else would silently take the place of a secret that was given with the command."""
    return kept.origin is Origin.CALLER and not isinstance(module.inputs.get(variable), FromCaller)


def _changed(stack: Stack, inputs: RunInputs, host: Host, mask_of: MaskOf) -> Iterator[str]:
    """Name the values that are kept nowhere but where they stand, and are others there by now."""
    withheld = [(name, variable, one) for name, kept in inputs.items() for variable, one in kept.items() if one.rest]
    mask = mask_of(stack) if withheld else Redaction()
    for name, variable, one in withheld:
        there = _standing(stack.modules[name], variable, host)
        if there and rest_of(mask, there[0]) != one.rest:
            where = one.where.removeprefix("file:") or "the manifest"
            yield f"{name}.{variable}: with a secret in it, it was left in {where}, which has another value now"


def _standing(module: Module, variable: str, host: Host) -> tuple[Json, ...]:
    """The value that stands in the manifest or in a variable file; nothing where the caller gives one."""
    source = module.inputs.get(variable)
    if source is None:
        return tuple(value for name, value, _ in outside_inputs(module, host) if name == variable)
    return (source.tree,) if isinstance(source, Literal) else ()


def _is_declared(stack: Stack, reference: Reference) -> bool:
    if reference.stack:
        return reference.stack in stack.others
    needed = stack.modules.get(reference.module)
    return needed is not None and reference.output in needed.interface.outputs


def _whereabouts(kept: RunInput) -> str:
    match kept.origin:
        case Origin.CALLER:
            return "a secret that was given with the command and is kept nowhere"
        case Origin.MANIFEST:
            return "a secret that was written in the manifest and is not there any more"
    return f"a secret that came from {kept.where}, which does not give it any more"
