"""The inputs of a module for people's eyes: values of what is no secret, and where the rest comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace  # noqa: TID251  of a dataclass

from msgspec import structs

from hybridwrap.domain.entry import RecordedInput
from hybridwrap.domain.inputs import (
    Host,
    ResolvedInputs,
    Wait,
    own_secrets,
    resolve_inputs,
    secret_defaults,
    secret_record,
)
from hybridwrap.domain.json import Json
from hybridwrap.domain.outputs import Output
from hybridwrap.domain.redaction import Redaction
from hybridwrap.domain.stack import FromEnv, FromFile, Module, Reference


def without_secrets(module: Module, output: Callable[[Reference], Output | Wait | None], host: Host) -> ResolvedInputs:
    """Resolve what can be shown; a secret need not be there for that. Raise PreflightRefused."""
    outside = {n: source for n, source in module.inputs.items() if isinstance(source, FromEnv | FromFile)}
    others = structs.replace(module, inputs={n: source for n, source in module.inputs.items() if n not in outside})
    found = resolve_inputs(others, output=output, secret=_unseen, host=host)
    secrets = {n: kept for n, source in outside.items() if (kept := secret_record(module, n, source, frozenset()))}
    waits = tuple(wait for wait in found.waits if not _is_secret(output(wait.reference)))
    recorded = {**found.recorded, **secrets, **_withheld(module, found.values, host)}
    values = {n: value for n, value in found.values.items() if not recorded[n].sensitive}
    return replace(found, values=values, recorded=recorded, waits=waits)


def _withheld(module: Module, values: Mapping[str, Json], host: Host) -> dict[str, RecordedInput]:
    """Values of the manifest in which a secret of the module stands in clear."""
    mask = Redaction((*own_secrets(module, host).values(), *secret_defaults(module, host)))
    names = (name for name, value in values.items() if mask.holds(value))
    return {n: RecordedInput(sensitive=True, reference=f"manifest:modules.{module.name}.inputs.{n}") for n in names}


def _unseen(reference: Reference) -> Json:
    raise LookupError(str(reference))


def _is_secret(output: Output | Wait | None) -> bool:
    return isinstance(output, Output) and output.sensitive
