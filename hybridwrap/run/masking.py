"""Keeps secrets out of everything that is shown or recorded, by knowing their values."""

from __future__ import annotations

from dataclasses import replace

from hybridwrap.domain.command_failed import CommandFailed
from hybridwrap.domain.engine_run import Diagnostic
from hybridwrap.domain.inputs import ResolvedInputs
from hybridwrap.domain.ports import EngineEvent, Listen
from hybridwrap.domain.redaction import Redaction
from hybridwrap.run.context import Context


def mask_of(context: Context, inputs: ResolvedInputs) -> Redaction:
    return Redaction((*context.knowledge.secret_values, *inputs.secret_values))


def secrets_of(context: Context, inputs: ResolvedInputs) -> Redaction | None:
    """The mask, None when nothing is secret."""
    return mask_of(context, inputs) if context.knowledge.secret_values or inputs.secret_values else None


def listener(context: Context, module: str, inputs: ResolvedInputs) -> Listen:
    """Pass events of a module's engine on to the watcher, masked."""
    mask = mask_of(context, inputs)

    def listen(event: EngineEvent) -> None:
        context.watch.event(module, mask.diagnostic(event) if isinstance(event, Diagnostic) else event)

    return listen


def masked_failure(mask: Redaction, error: CommandFailed) -> CommandFailed:
    stream = replace(error.stream, diagnostics=tuple(map(mask.diagnostic, error.stream.diagnostics)))
    return CommandFailed(mask.text(error.message), ended=error.ended, stream=stream)
