"""Keeps secrets out of everything that is shown or recorded, by knowing their values."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from hybridwrap.domain.command_failed import CommandFailed
from hybridwrap.domain.engine_run import Diagnostic
from hybridwrap.domain.entry import RecordedInput
from hybridwrap.domain.inputs import ResolvedInputs
from hybridwrap.domain.outputs import Output
from hybridwrap.domain.ports import EngineEvent, Listen
from hybridwrap.domain.redaction import Redaction
from hybridwrap.domain.state import EngineState
from hybridwrap.errors import EngineNotUsable, OutcomeUnknown, PreflightRefused
from hybridwrap.run.context import Context
from hybridwrap.run.needs import resolve


def mask_of(context: Context, inputs: ResolvedInputs) -> Redaction:
    return Redaction((*context.knowledge.secret_values, *inputs.secret_values))


def mask_for(context: Context, module: str, state: EngineState | None) -> Redaction:
    """The mask for a module that is not planned: of its own state, and of what its inputs are made from where known."""
    context.knowledge.learn_secrets(module, state)
    try:
        there = context.tools.stack.modules[module].source.is_dir()
        inputs = resolve(context, module) if there else None
    except (PreflightRefused, EngineNotUsable, OutcomeUnknown):
        inputs = None
    return mask_of(context, inputs if isinstance(inputs, ResolvedInputs) else ResolvedInputs({}, {}))


def secrets_of(context: Context, inputs: ResolvedInputs) -> Redaction | None:
    """The mask, None when nothing is secret."""
    return mask_of(context, inputs) if context.knowledge.secret_values or inputs.secret_values else None


def withheld(mask: Redaction, outputs: Mapping[str, Output]) -> dict[str, Output]:
    """Call every output sensitive that has a known secret in it, whatever its module declares."""
    return {name: _sensitive(output) if mask.holds(output.value) else output for name, output in outputs.items()}


def _sensitive(output: Output) -> Output:
    return replace(output, sensitive=True, value=None)


def recordable(mask: Redaction, inputs: Mapping[str, RecordedInput]) -> dict[str, RecordedInput]:
    """Keep of inputs with a known secret in them only that there are such."""
    return {
        name: RecordedInput(sensitive=True, reference=kept.reference or f"input:{name}")
        if mask.holds(kept.value)
        else kept
        for name, kept in inputs.items()
    }


def listener(context: Context, module: str, inputs: ResolvedInputs) -> Listen:
    """Pass events of a module's engine on to the watcher, masked."""
    mask = mask_of(context, inputs)

    def listen(event: EngineEvent) -> None:
        context.watch.event(module, mask.diagnostic(event) if isinstance(event, Diagnostic) else event)

    return listen


def masked_failure(mask: Redaction, error: CommandFailed) -> CommandFailed:
    stream = replace(error.stream, diagnostics=tuple(map(mask.diagnostic, error.stream.diagnostics)))
    return CommandFailed(mask.text(error.message), ended=error.ended, stream=stream, hint=error.hint)
