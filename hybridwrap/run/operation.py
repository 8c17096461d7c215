"""The part of an operation that changes things: begin, the engine's apply or destroy, end."""

from __future__ import annotations

from msgspec.structs import replace

from hybridwrap.domain.entry import Begin, End, Locks
from hybridwrap.domain.failure_kinds import taken_in
from hybridwrap.domain.hooks import HookRun
from hybridwrap.domain.inputs import inputs_digest, upstream_digest
from hybridwrap.domain.outcome_table import Again
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.stack import Module
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.errors import CredentialsRefused, EngineFailed, OutcomeUnknown, PlanOutdated
from hybridwrap.run.absence import unproven
from hybridwrap.run.busy import locked
from hybridwrap.run.context import Context
from hybridwrap.run.heartbeat import Heart, heartbeat
from hybridwrap.run.hooks import before_begin
from hybridwrap.run.identity import keep_identity, take_identity
from hybridwrap.run.masking import listener, mask_of, recordable, secrets_of, withheld
from hybridwrap.run.names import keep_names
from hybridwrap.run.origin import origin_of
from hybridwrap.run.preparation import Prepared
from hybridwrap.run.reading import Reading, read_apply
from hybridwrap.run.recording import begin, end
from hybridwrap.run.second_look import look_again

EXIT_CODES = {Status.ERROR: EngineFailed.exit_code, Status.UNKNOWN: OutcomeUnknown.exit_code}
HINTS = {Status.UNKNOWN: "hybridwrap reconcile {module}"}


def carry_out(context: Context, prepared: Prepared) -> ModuleEnd:
    """Apply a prepared plan, or destroy by it, and record it.

    Raise SlotTaken, ModuleBusy, LedgerUnreachable or LedgerDamaged when nothing was started, PlanOutdated when the
    engine refused the plan or what goes into it has changed, StateLocked when the engine found its state locked;
    ResultNotSent or Superseded after.
    """
    began = context.tools.clock.monotonic()
    hooks = before_begin(context, prepared)
    _take_identity_again(context, prepared)
    held = begin(context, prepared.folder, prepared.record, lambda locks: _intent(context, prepared, locks, hooks))
    objection = None if context.stop.wanted else look_again(context, prepared)
    why_not = objection.why if objection else context.stop.reason
    with heartbeat(context, prepared.engine, held) as heart:
        reading = _nothing_ran(held, why_not) if why_not else _apply(context, prepared, held, heart)
        end(context, prepared.folder, held, reading.end, secrets_of(context, prepared.inputs))
    if objection:
        raise objection.error
    if reading.stale_plan:
        raise PlanOutdated(f"{prepared.module.name}: {reading.end.reason}")
    if reading.again is Again.WAIT:
        raise locked(context, f"{prepared.module.name}: {reading.end.reason}")
    module_end = _module_end(context, prepared, reading, context.tools.clock.monotonic() - began)
    return replace(module_end, hooks=hooks)


def _take_identity_again(context: Context, prepared: Prepared) -> None:
    """An approval may take longer than credentials live."""
    try:
        take_identity(context, prepared.module, prepared.engine)
    except CredentialsRefused:
        prepared.folder.remove()
        raise


def _intent(context: Context, prepared: Prepared, locks: Locks, hooks: tuple[HookRun, ...]) -> Begin:
    record, key, origin = prepared.record, context.tools.digest_key, origin_of(context, prepared)
    mask = mask_of(context, prepared.inputs)
    whole = context.options.plan.whole  # else the module is not all of what these inputs make of it
    return Begin(
        command=context.options.command,
        run=context.run,
        engine=prepared.engine.identity,
        source=origin.source,
        state=prepared.mark,
        locks=locks,
        plan_digest=prepared.planned.digest,
        planned=prepared.actions,
        inputs=recordable(mask, prepared.inputs.recorded),
        inputs_digest=inputs_digest(prepared.inputs, key) if whole else "",
        upstream_digest=upstream_digest(prepared.inputs, key) if whole else "",
        previous_status=record.status,
        previous_outputs=withheld(mask, record.outputs),
        owner_incarnation=origin.owner_incarnation,
        declared=origin.declared,
        saved=context.options.saved,
        hooks=hooks,
    )


def _nothing_ran(held: Record, why: str) -> Reading:
    reason = f"nothing ran: {why}"
    body = End(Outcome.CANCELLED, held.settled, held.state, held.outputs, held.objects, reason=reason)
    return Reading(body, Again.PLAN)


def _apply(context: Context, prepared: Prepared, held: Record, heart: Heart) -> Reading:
    name = prepared.module.name
    context.watch.phase(name, context.options.command)
    listen = heart.listening(listener(context, name, prepared.inputs))
    applied = prepared.engine.apply(prepared.folder, listen)
    keep_identity(context, prepared.module, prepared.engine)
    context.watch.phase(name, "record")
    reading = read_apply(context, prepared, held, applied)
    keep_names(prepared.engine, prepared.folder, reading.end.objects, mask_of(context, prepared.inputs))
    if reading.end.outcome is not Outcome.SUCCEEDED:
        for warning in reading.warnings:
            context.watch.warning(name, warning)
    return reading


def _hint(context: Context, module: Module, body: End) -> str:
    if _unproven(body):
        return unproven(context, module)
    if body.status is Status.ERROR:
        return taken_in(context.tools.stack.named(module.name), body.errors)
    return HINTS.get(body.status, "").format(module=module.name)


def _unproven(body: End) -> bool:
    """The engine says that it has done its part, and a look for what was to go has not shown it."""
    return body.outcome is Outcome.SUCCEEDED and body.status is Status.ERROR


def _module_end(context: Context, prepared: Prepared, reading: Reading, seconds: float) -> ModuleEnd:
    body = reading.end
    cancelled = body.outcome is Outcome.CANCELLED
    return ModuleEnd(
        result="stopped" if cancelled else str(body.status),
        exit_code=EngineFailed.exit_code if cancelled else EXIT_CODES.get(body.status, 0),
        operation=prepared.operation,
        reason="" if body.status is Status.OK and not cancelled else body.reason,
        hint=_hint(context, prepared.module, body),
        errors=body.errors,
        counts={} if _unproven(body) else body.counts,
        seconds=seconds,
    )
