"""Whether a module is as it was last applied, as far as digests and inputs tell without an engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from hybridwrap.domain.entry import Begin, RecordedInput, Source
from hybridwrap.domain.inputs import TF_VAR, Host, filled, is_bare_reference, outside_inputs, secret_record
from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.record import Record
from hybridwrap.domain.stack import FromCaller, Input, Literal, Module, Reference
from hybridwrap.domain.status import Status
from hybridwrap.errors import InvalidManifest

OutputsByModule = Mapping[str, Mapping[str, Output]]
ENDED_BADLY = frozenset({Status.ERROR, Status.UNKNOWN})
LEFT_ALONE = frozenset({Status.DESTROYED, Status.RETAINED})  # somebody's decision


class Unapplied(Struct, frozen=True):
    """Why a module is not as it was last applied, and whether what differs is on the branch that changes go to."""

    reasons: tuple[str, ...]
    merged: bool

    def __str__(self) -> str:
        return f"{self.headline}: {'; '.join(self.reasons)}"

    @property
    def headline(self) -> str:
        return f"{'merged' if self.merged else 'changed'}, not applied"


def unapplied(module: Module, record: Record, now: Source, host: Host, outputs: OutputsByModule) -> tuple[str, ...]:
    """Say why a module is not as it was last applied; nothing where it is, or was torn down on purpose.

    `now` is what makes it now. While it is being applied, what that apply was begun with counts.
    """
    if record.status is Status.NONE:
        return ("never applied",)
    if record.status in LEFT_ALONE or record.command.startswith("destroy"):
        return ()
    if record.status in ENDED_BADLY:
        return (f"its last {record.command} did not end well",)
    return tuple(_differences(module, record.intent or record, now, host, outputs))


def _differences(
    module: Module, was: Record | Begin, now: Source, host: Host, outputs: OutputsByModule
) -> Iterator[str]:
    if was.source is None:
        yield "adopted, and not planned since"
        return
    if not was.inputs_digest and not any(kept.sensitive for kept in was.inputs.values()):
        yield "only a part of it was applied last"
    commit = f" since {was.source.git[:12]}" if was.source.git else ""
    if was.source.digest != now.digest:
        yield f"its files have changed{commit}"
    if was.source.lock != now.lock:
        yield f"its lock file has changed{commit}"
    names = sorted(_changed_inputs(module, was.inputs, host, outputs))
    if names:
        yield f"inputs have changed: {', '.join(names)}"


def _changed_inputs(
    module: Module, was: Mapping[str, RecordedInput], host: Host, outputs: OutputsByModule
) -> Iterator[str]:
    now = {name: _expected(module, name, source, host, outputs) for name, source in module.inputs.items()}
    now |= _from_files(module, host)
    yield from (name for name, kept in now.items() if kept is not None and _differ(was.get(name), kept))
    yield from (
        name for name, kept in was.items() if name not in now and not kept.reference.startswith(f"env:{TF_VAR}")
    )


def _expected(module: Module, name: str, source: Input, host: Host, outputs: OutputsByModule) -> RecordedInput | None:
    """What the ledger would keep of an input, None where that can't be told."""
    if isinstance(source, FromCaller):
        return None
    references = source.references if isinstance(source, Literal) else ()
    known = {reference: outputs.get(reference.module, {}).get(reference.output) for reference in references}
    sensitive = frozenset(reference for reference, output in known.items() if output and output.sensitive)
    if secret := secret_record(module, name, source, sensitive):
        return secret
    values = {reference: output.value for reference, output in known.items() if output and _usable(output)}
    if not isinstance(source, Literal) or len(values) < len(known):
        return None
    return _rendered(source, values, host)


def _usable(output: Output) -> bool:
    return output.provenance is Provenance.KNOWN and not output.sensitive


def _rendered(source: Literal, values: Mapping[Reference, Json], host: Host) -> RecordedInput | None:
    if is_bare_reference(source):  # spares the start-up of templates
        return RecordedInput(next(iter(values.values())))
    try:
        return RecordedInput(filled(source.tree, lambda text: host.render(text, values)))
    except ValueError:
        return None


def _from_files(module: Module, host: Host) -> dict[str, RecordedInput]:
    """Of what reaches the engine without us, that which is the same on every host: the user's variable files."""
    try:
        outside = {name: kept for name, _, kept in outside_inputs(module, host)}
    except InvalidManifest:
        return {}
    return {name: kept for name, kept in outside.items() if not kept.reference.startswith("env:")}


def _differ(was: RecordedInput | None, now: RecordedInput) -> bool:
    if was is None:
        return True
    if was.sensitive or now.sensitive:
        return now.sensitive and was.reference != now.reference
    return canonical(was.value) != canonical(now.value)
