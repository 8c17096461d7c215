"""Apply again after a transient error, with a new plan.

Keeps: a retry destroys or replaces nothing that the first plan left alone, and an unknown outcome is never retried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from hybridwrap.domain.duration import in_words
from hybridwrap.domain.engine_run import Action, Diagnostic, PlannedChange
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.stack import Retry
from hybridwrap.domain.status import Outcome
from hybridwrap.errors import gravest
from hybridwrap.run.context import Context
from hybridwrap.run.ends import guarded
from hybridwrap.run.operation import carry_out
from hybridwrap.run.preparation import Prepared
from hybridwrap.run.queue import ENDED_WELL

DESTRUCTIVE = frozenset({Action.DELETE, Action.REPLACE, Action.REMOVE, Action.FORGET})


def carry_out_with_retries(
    context: Context, first: Prepared, plan_again: Callable[[], Prepared | ModuleEnd]
) -> ModuleEnd:
    """Carry out a plan, and new ones as long as the module's `retry` allows it; each is an operation of its own.

    Raise as `carry_out` does.
    """
    name, retry = first.module.name, first.module.retry
    end = carry_out(context, first)
    for attempt in range(1, retry.attempts):
        if not _may_follow(context.knowledge.record(name)) or not is_transient(retry, end.errors):
            return end
        said = f"attempt {attempt} of {retry.attempts} failed: {end.reason}"
        context.watch.warning(name, f"{said}; next try in {in_words(retry.wait_seconds)}")
        planned = _planned_again(context, first, plan_again)
        if isinstance(planned, ModuleEnd):
            return planned if planned.result in ENDED_WELL else _not_again(context, name, end, planned)
        end = carry_out(context, planned)
    return end


def _may_follow(record: Record) -> bool:
    """Whether it is known what the failed attempt has made."""
    return record.outcome is Outcome.FAILED and not any(thing.open for thing in record.objects)


def _planned_again(
    context: Context, first: Prepared, plan_again: Callable[[], Prepared | ModuleEnd]
) -> Prepared | ModuleEnd:
    """Wait, read the state and plan; end where that shows that no second try may be made."""
    if not context.stop.wait(first.module.retry.wait_seconds):
        return ModuleEnd("stopped", reason=context.stop.reason)
    planned = guarded(first.module.name, lambda _: plan_again())
    if isinstance(planned, ModuleEnd):
        return planned
    more = new_destruction(first.actions, planned.actions)
    if not more:
        return planned
    planned.folder.remove()
    told = ", ".join(f"{change.action} {change.address}" for change in more)
    return ModuleEnd(
        "refused",
        reason=f"the new plan would {told}, which the first one did not",
        hint=f"hybridwrap plan {first.module.name}",
    )


def _not_again(context: Context, name: str, failed: ModuleEnd, why: ModuleEnd) -> ModuleEnd:
    context.watch.warning(name, f"not tried again: {why.reason}")
    return replace(
        failed,
        exit_code=gravest([failed.exit_code, why.exit_code]),
        reason=f"{failed.reason}; not tried again: {why.reason}",
        hint=why.hint or failed.hint,
    )


def is_transient(retry: Retry, errors: Sequence[Diagnostic]) -> bool:
    """Whether each of the errors is of a kind that may be gone at the next try."""
    patterns = [re.compile(pattern) for pattern in retry.on]
    texts = [f"{error.address}: {error.summary}\n{error.detail}" for error in errors]
    return bool(texts) and all(any(pattern.search(text) for pattern in patterns) for text in texts)


def new_destruction(first: Sequence[PlannedChange], second: Sequence[PlannedChange]) -> tuple[PlannedChange, ...]:
    """What a second plan destroys, replaces or lets go of and the first one did not."""
    known = {change.address for change in first if change.action in DESTRUCTIVE}
    return tuple(change for change in second if change.action in DESTRUCTIVE and change.address not in known)
