"""The inputs of a module that is torn down: those that its objects were made with.

Keeps: no value is made up unseen, and none for a variable that may steer a provider: it would look elsewhere, and find
nothing there.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.entry import RecordedInput
from hybridwrap.domain.inputs import ResolvedInputs, resolve_inputs
from hybridwrap.domain.json import Json
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.placeholder import REFERENCE, placeholder
from hybridwrap.domain.record import Record
from hybridwrap.domain.stack import FromCaller, Input, Module, Reference
from hybridwrap.errors import PreflightRefused
from hybridwrap.run.context import Context
from hybridwrap.run.needs import secret_value


class _Found(Struct, frozen=True):
    """A value for the engine, with what the ledger keeps of it."""

    value: Json
    recorded: RecordedInput


def teardown_inputs(context: Context, module: Module, record: Record) -> ResolvedInputs:
    """Give every variable a value: the caller's, else the recorded one, else as the manifest has it now.

    What is left is a placeholder, said and recorded as one. Raise PreflightRefused when that would not be harmless.
    Give a record without inputs to have them as the manifest has them.
    """
    outside = _resolve(context, module, {})
    found: dict[str, _Found] = {}
    missing: dict[str, str] = {}
    for name in module.interface.variables:
        given = _given(context, module, record, name)
        if isinstance(given, _Found):
            found[name] = given
        elif name not in outside.outside:  # else it reaches the engine by itself
            missing[name] = given
    found |= _placeholders(context, module, missing)
    return ResolvedInputs(
        values={name: each.value for name, each in found.items()},
        recorded={**outside.recorded, **{name: each.recorded for name, each in found.items()}},
        outside={name: value for name, value in outside.outside.items() if name not in found},
        defaults=outside.defaults,
    )


def _given(context: Context, module: Module, record: Record, name: str) -> _Found | str:
    """A value that somebody gave, or why there is none."""
    source, kept = module.inputs.get(name), record.inputs.get(name)
    if kept and _has_value(kept) and not isinstance(source, FromCaller):
        return _Found(kept.value, kept)
    if source is None:
        return "nothing gives it a value"
    try:
        resolved = _resolve(context, module, {name: source})
    except PreflightRefused as error:
        return error.message
    if resolved.waits:
        return "; ".join(wait.reason for wait in resolved.waits)
    return _Found(resolved.values[name], resolved.recorded[name])


def _has_value(kept: RecordedInput) -> bool:
    """Whether it is the value itself: no secret, and not what the engine took from a file that only it can read."""
    return not kept.sensitive and kept.reference != REFERENCE and (kept.value is not None or not kept.reference)


def _resolve(context: Context, module: Module, inputs: Mapping[str, Input]) -> ResolvedInputs:
    return resolve_inputs(
        replace(module, inputs=inputs),
        output=lambda reference: _last_output(context, reference),
        secret=lambda reference: secret_value(context, reference),
        host=context.tools.host,
    )


def _last_output(context: Context, reference: Reference) -> Output | None:
    """What the ledger has: to destroy something, the last good value is as good as the current one."""
    others = context.tools.others
    found = others.last_output(reference) if reference.stack else context.knowledge.output(reference)
    if found is None or found.provenance is Provenance.MISSING:
        return None
    return replace(found, provenance=Provenance.KNOWN)


def _placeholders(context: Context, module: Module, missing: Mapping[str, str]) -> dict[str, _Found]:
    variables = module.interface.variables
    wanted = {name: why for name, why in missing.items() if variables[name].required or name in module.inputs}
    if not wanted:
        return {}
    steering = context.tools.sources.steering(module.source, module.engine)
    refused = {name: why for name, why in wanted.items() if name in steering}
    if refused:
        raise PreflightRefused(
            f"{module.name}: no value for {'; '.join(f'{name} ({why})' for name, why in refused.items())}. "
            "A provider may depend on it, so none is made up",
            hint=" ".join(
                ["hybridwrap destroy", context.tools.stack.named(module.name), *(f"-var {name}=…" for name in refused)]
            ),
        )
    found = {}
    for name in (name for name in wanted if variables[name].required):
        context.watch.warning(
            module.name, f"{name} gets a placeholder: {wanted[name]}; here the engine only needs some value"
        )
        secret = variables[name].sensitive or variables[name].ephemeral
        value = placeholder(variables[name].type)
        kept = RecordedInput(None if secret else value, sensitive=secret, reference=REFERENCE)
        found[name] = _Found(value, kept)
    return found
