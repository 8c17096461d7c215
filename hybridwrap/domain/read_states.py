"""What it means for a module that it reads the states of others by itself: it waits for them, and changes with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace  # noqa: TID251  of a dataclass

from msgspec import Struct

from hybridwrap.domain.inputs import ResolvedInputs, Wait, why_not
from hybridwrap.domain.json import Json
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.stack import Reference


class ReadState(Struct, frozen=True):
    """The state of a module, as its readers will find it; no `outputs` at all where there is no state to read."""

    module: str
    where: str  # of the data source that reads it, file:line
    outputs: Mapping[str, Output] | None
    serial: int = 0


def with_states(resolved: ResolvedInputs, states: Iterable[ReadState]) -> ResolvedInputs:
    """Add to a module's inputs what it reads by itself: all outputs of the state, as nobody can tell which it uses."""
    found = tuple(states)
    if not found:
        return resolved
    waits = tuple(wait for state in found if (wait := _wait(state)))
    upstream = {f"state of {state.module}": _contents(state) for state in found}
    return replace(resolved, waits=(*resolved.waits, *waits), upstream={**resolved.upstream, **upstream})


def _wait(state: ReadState) -> Wait | None:
    if state.outputs is None:
        reason = f"{state.module} was not applied: its state, read in {state.where}, is not there yet"
        return Wait(Reference(state.module, ""), reason)
    for name, output in sorted(state.outputs.items()):
        if output.provenance is not Provenance.KNOWN:
            reference = Reference(state.module, name)
            return Wait(reference, f"{why_not(reference, output)}; its state is read in {state.where}")
    return None


def _contents(state: ReadState) -> Json:
    """What tells a state that reads differently: the outputs, and instead of secret ones when it was last written."""
    outputs = state.outputs or {}
    contents: dict[str, Json] = {name: output.value for name, output in outputs.items() if not output.sensitive}
    if any(output.sensitive for output in outputs.values()):
        return {"outputs": contents, "serial": state.serial}
    return {"outputs": contents}
