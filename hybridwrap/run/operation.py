"""The part of an operation that changes things: begin, the engine's apply, end.

Keeps: no engine is started before `begin` is stored; what happened after it is in `end`, or safe on this host.
"""

from __future__ import annotations

from contextlib import ExitStack

from hybridwrap.domain.codec import encode
from hybridwrap.domain.entry import Begin, End, Locks
from hybridwrap.domain.inputs import inputs_digest, upstream_digest
from hybridwrap.domain.outcome_table import Again
from hybridwrap.domain.record import Record
from hybridwrap.domain.result import Result
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.errors import IntentInDoubt
from hybridwrap.run.context import Context
from hybridwrap.run.masking import has_secrets, listener, mask_of
from hybridwrap.run.preparation import Prepared
from hybridwrap.run.reading import Reading, read_apply

EXIT_CODES = {Status.ERROR: 4, Status.UNKNOWN: 32}
HINTS = {Status.UNKNOWN: "hybridwrap reconcile {module}"}


def carry_out(context: Context, prepared: Prepared) -> ModuleEnd:
    """Apply a prepared plan and record it.

    Raise SlotTaken, ModuleBusy or LedgerUnreachable when nothing was started; ResultNotSent or Superseded after.
    """
    began = context.tools.clock.monotonic()
    held = _begin(context, prepared)
    reading = _nothing_ran(context, held) if context.stop.wanted else _apply(context, prepared, held)
    _end(context, prepared, held, reading.end)
    return _module_end(prepared, reading, context.tools.clock.monotonic() - began)


def _begin(context: Context, prepared: Prepared) -> Record:
    with ExitStack() as on_failure:
        on_failure.callback(prepared.folder.remove)
        locks = prepared.folder.lock()
        try:
            held = context.tools.ledger.begin(
                prepared.record, _intent(context, prepared, locks), operation=prepared.operation
            )
        except IntentInDoubt:
            on_failure.pop_all()  # the folder proves that nothing ran
            prepared.folder.drop_secrets()
            raise
        on_failure.pop_all()
    context.knowledge.learn(held)
    return held


def _intent(context: Context, prepared: Prepared, locks: Locks) -> Begin:
    record, key = prepared.record, context.tools.digest_key
    return Begin(
        command="apply",
        run=context.run,
        engine=prepared.engine.identity,
        source=prepared.source,
        state=prepared.mark,
        locks=locks,
        plan_digest=prepared.planned.digest,
        planned=prepared.actions,
        inputs=prepared.inputs.recorded,
        inputs_digest=inputs_digest(prepared.inputs, key),
        upstream_digest=upstream_digest(prepared.inputs, key),
        previous_status=record.status,
        previous_outputs=record.outputs,
    )


def _nothing_ran(context: Context, held: Record) -> Reading:
    reason = f"nothing ran: {context.stop.reason}"
    end = End(Outcome.CANCELLED, held.settled, held.state, held.outputs, held.objects, reason=reason)
    return Reading(end, Again.PLAN)


def _apply(context: Context, prepared: Prepared, held: Record) -> Reading:
    name = prepared.module.name
    context.watch.phase(name, "apply")
    applied = prepared.engine.apply(prepared.folder, listener(context, name, prepared.inputs))
    context.watch.phase(name, "record")
    return read_apply(context, prepared, held, applied)


def _end(context: Context, prepared: Prepared, held: Record, end: End) -> None:
    """Keep the result on this host first, then tell the ledger. Raise ResultNotSent, Superseded."""
    result = Result(prepared.module.name, prepared.operation, context.tools.ids.new(), end)
    prepared.folder.keep_result(encode(result))
    prepared.folder.drop_secrets()
    try:
        record = context.tools.ledger.end(held, end, operation=result.operation, entry_id=result.entry_id)
        prepared.folder.drop_result()
        if has_secrets(context, prepared.inputs):
            prepared.folder.rewrite_logs(mask_of(context, prepared.inputs).text)
    finally:
        prepared.folder.release()
    context.knowledge.learn(record)


def _module_end(prepared: Prepared, reading: Reading, seconds: float) -> ModuleEnd:
    end = reading.end
    cancelled = end.outcome is Outcome.CANCELLED
    return ModuleEnd(
        result="stopped" if cancelled else str(end.status),
        exit_code=4 if cancelled else EXIT_CODES.get(end.status, 0),
        operation=prepared.operation,
        reason="" if end.status is Status.OK and not cancelled else end.reason,
        hint=HINTS.get(end.status, "").format(module=prepared.module.name),
        errors=end.errors,
        counts=end.counts,
        seconds=seconds,
    )
