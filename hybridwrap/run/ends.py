"""How one module of a run ends, whatever ended it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from hybridwrap.domain.command_failed import CommandFailed
from hybridwrap.domain.hook_failed import HookFailed
from hybridwrap.domain.outputs import Provenance
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.errors import (
    EngineFailed,
    HybridwrapError,
    LedgerUnreachable,
    ModuleBusy,
    OutcomeUnknown,
    ResultNotSent,
    Stopped,
    Superseded,
    Unexpected,
    as_told,
)
from hybridwrap.run.context import Context

T = TypeVar("T")

RESULTS: dict[type[HybridwrapError], str] = {
    EngineFailed: "error",
    ModuleBusy: "busy",
    OutcomeUnknown: "unknown",
    ResultNotSent: "unsent",
    Stopped: "stopped",
    Superseded: "superseded",
    Unexpected: "bug",
}


def guarded(name: str, work: Callable[[str], T]) -> T | ModuleEnd:
    """Do the work of one module; an expected error is its end, and no other module's business."""
    try:
        return work(name)
    except HybridwrapError as error:
        return end_of(error)
    except Exception as error:  # a module's boundary: a bug ends this one, and the run is recorded
        logging.getLogger(__name__).debug("%s", name, exc_info=True)
        return end_of(as_told(error))


def end_of(error: HybridwrapError) -> ModuleEnd:
    if isinstance(error, CommandFailed):
        if error.ended.overdue:
            return ModuleEnd("stopped", error.exit_code, reason="its time was up while nothing was changed")
        if error.ended.interrupts:
            return ModuleEnd("stopped", Stopped.exit_code, reason="interrupted while nothing was changed")
        return ModuleEnd("error", error.exit_code, reason=error.message, hint=error.hint, errors=error.stream.errors)
    if isinstance(error, HookFailed):
        return ModuleEnd("refused", error.exit_code, reason=error.message, hint=error.hint, hooks=error.hooks)
    result = next((word for kind, word in RESULTS.items() if isinstance(error, kind)), "refused")
    return ModuleEnd(result, error.exit_code, reason=error.message, hint=error.hint)


def tell(context: Context, name: str, end: ModuleEnd) -> None:
    """Say how a module ended: to whoever watches, and to the other processes of a shared run."""
    context.watch.module_ended(name, end)
    if context.part:
        try:
            context.tools.ledger.shared_runs.tell(context.run, context.part.id, name, end)
        except LedgerUnreachable as error:  # the end of the part says it again
            context.watch.note(error.message)


def waiting_end(context: Context, name: str, blocked_by: tuple[str, ...]) -> ModuleEnd:
    """The end of a module that was not begun: what it waits for, value by value where values are missing."""
    if not blocked_by:
        return ModuleEnd("pending", reason=context.stop.reason)
    module = context.tools.stack.modules[name]
    references = module.references
    missing = [str(r) for r in references if r.module in blocked_by and not _known(context, r.module, r.output)]
    waits_for = missing[0] if missing else blocked_by[0]
    inputs_known = any(r.module == blocked_by[0] for r in references) and not missing
    read = [other for other in blocked_by if other in module.reads]
    behind = f"; it reads the state of {', '.join(read)}" if read else "; its inputs are known" if inputs_known else ""
    return ModuleEnd(
        "pending",
        reason=f"waits for {', '.join(missing or blocked_by)}{behind}",
        waits_for=waits_for,
    )


def _known(context: Context, module: str, output: str) -> bool:
    found = context.knowledge.record(module).outputs.get(output)
    return found is not None and found.provenance is Provenance.KNOWN
