"""The inputs of a module, from what is known when its turn comes."""

from __future__ import annotations

from hybridwrap.domain.inputs import ResolvedInputs, Wait, resolve_inputs, told
from hybridwrap.domain.json import Json
from hybridwrap.domain.ledger import FRESH
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.read_states import ReadState, with_states
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.stack import Module, Reference
from hybridwrap.domain.state import EngineState
from hybridwrap.domain.status import Status
from hybridwrap.errors import PreflightRefused
from hybridwrap.run.context import Context


def resolve(context: Context, name: str) -> ResolvedInputs | ModuleEnd:
    """Resolve a module's inputs, or say which value of which module it waits for. Raise PreflightRefused."""
    module = context.tools.stack.modules[name]
    if waits := _behind_damage(context, module):
        return waits
    inputs = resolve_inputs(
        module,
        output=lambda r: _output(context, r),
        secret=lambda r: secret_value(context, r),
        host=context.tools.host,
    )
    inputs = with_states(inputs, (_read_state(context, other, where) for other, where in sorted(module.reads.items())))
    if inputs.waits:
        first = inputs.waits[0].reference
        return ModuleEnd(
            "pending",
            PreflightRefused.exit_code,
            reason=told(inputs.waits),
            hint=context.tools.others.next_for(first) if first.stack else f"hybridwrap apply {first.module}",
            waits_for=str(first),
        )
    return inputs


def _behind_damage(context: Context, module: Module) -> ModuleEnd | None:
    """The end of a module that needs one of which nobody can tell how it stands: it was not begun."""
    for need in module.needs:
        if damage := context.knowledge.record(need).damage:
            told = damage.error
            reason = f"waits for {need}: its log is damaged: {damage}"
            return ModuleEnd("pending", told.exit_code, reason=reason, hint=damage.hint, waits_for=need)
    return None


def _read_state(context: Context, module: str, where: str) -> ReadState:
    record = context.knowledge.record(module)
    if record.status not in FRESH:
        return ReadState(module, where, record.outputs, record.state.serial if record.state else 0)
    state = _state_of(context, module)
    if state is None or not (state.instances or state.outputs):
        return ReadState(module, where, None)
    context.watch.warning(module, f"not in the ledger: its state is read in {where}; next: hybridwrap adopt {module}")
    known = {
        n: Output(Provenance.KNOWN, o.sensitive, None if o.sensitive else o.value) for n, o in state.outputs.items()
    }
    return ReadState(module, where, known, state.serial)


def secret_value(context: Context, reference: Reference) -> Json:
    """A sensitive value: seen in this run, or read from the state that the record speaks of. Raise LookupError."""
    if reference.stack:
        value = context.tools.others.secret(reference)
        context.knowledge.keep_secret(reference, value)
        return value
    try:
        return context.knowledge.secret(reference)
    except LookupError:
        state = _state_of(context, reference.module)
        recorded = context.knowledge.record(reference.module).state
        if not state or not recorded or (state.lineage, state.serial) != (recorded.lineage, recorded.serial):
            raise
        context.knowledge.learn_secrets(reference.module, state)
        return context.knowledge.secret(reference)


def _output(context: Context, reference: Reference) -> Output | Wait | None:
    found = known_output(context, reference)
    if found and not reference.stack and context.knowledge.record(reference.module).status is Status.NONE:
        context.watch.warning(
            reference.module,
            f"not in the ledger: {reference} is read from its state; next: hybridwrap adopt {reference.module}",
        )
    return found


def known_output(context: Context, reference: Reference) -> Output | Wait | None:
    """What the ledger has; for a module that it never heard of, what stands in its engine state."""
    if reference.stack:
        return context.tools.others.output(reference)
    if context.knowledge.record(reference.module).status is not Status.NONE:
        return context.knowledge.output(reference)
    state = _state_of(context, reference.module)
    found = state.outputs.get(reference.output) if state else None
    if state is None or found is None:
        return None
    context.knowledge.learn_secrets(reference.module, state)
    return Output(Provenance.KNOWN, found.sensitive, None if found.sensitive else found.value, found.type)


def _state_of(context: Context, module: str) -> EngineState | None:
    return context.tools.engines.at(context.tools.stack.modules[module]).state()
