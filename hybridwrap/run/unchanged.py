"""What an empty plan proves: it clears an error with nothing open, and shows what changed outside."""

from __future__ import annotations

from hybridwrap.domain.entry import CloudObject, Observe, Source
from hybridwrap.domain.inputs import inputs_digest, upstream_digest
from hybridwrap.domain.open_objects import accounted
from hybridwrap.domain.partial import objects_after, outputs_after, taken_out
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.state import instances_of
from hybridwrap.domain.status import Status
from hybridwrap.errors import OutcomeUnknown
from hybridwrap.run.context import Context
from hybridwrap.run.masking import mask_of, recordable, withheld
from hybridwrap.run.preparation import Prepared


def settle_unchanged(context: Context, prepared: Prepared, seconds: float) -> ModuleEnd:
    """End a module whose plan is empty; write to the ledger only what it does not say yet."""
    prepared.folder.remove()
    record, objects = prepared.record, _objects(prepared)
    still_open = [o.address for o in objects if o.open]
    if still_open and record.status is not Status.OK:
        raise OutcomeUnknown(
            f"{record.module}: the plan is empty, but nobody knows how this ended: {', '.join(still_open)}",
            hint=f"hybridwrap reconcile {record.module}",
        )
    if not context.options.plan.whole:
        return ModuleEnd("unchanged", reason="as far as this plan looks", seconds=seconds)
    seen = record_unchanged(context, prepared)
    return ModuleEnd("unchanged", reason=seen.reason if record.status is not Status.OK else "", seconds=seconds)


def record_unchanged(context: Context, prepared: Prepared) -> Observe:
    """Record what an empty plan of a module with nothing open proves, if the ledger does not say it yet."""
    seen = _seen(context, prepared)
    if _is_news(prepared, seen):
        context.knowledge.learn(context.tools.ledger.observe(prepared.record, seen))
    return seen


def _objects(prepared: Prepared) -> tuple[CloudObject, ...]:
    """All that are known; the refresh of the plan speaks for those of the state that were open."""
    found = objects_after(taken_out(prepared.record.objects, prepared.state), prepared.planned.stream, prepared.state)
    return accounted(found, instances_of(prepared.state) or ())


def _seen(context: Context, prepared: Prepared) -> Observe:
    record, key, mask = prepared.record, context.tools.digest_key, mask_of(context, prepared.inputs)
    outputs = outputs_after(
        succeeded=True,
        declared=prepared.module.interface.outputs,
        output_changes={},
        before=record.outputs,
        state_before=prepared.state,
        state_after=prepared.state,
    )
    return Observe(
        run=context.run,
        reason=_reason(prepared),
        status=Status.OK,
        state=prepared.mark,
        outputs=withheld(mask, outputs),
        objects=_objects(prepared),
        inputs=recordable(mask, prepared.inputs.recorded),
        inputs_digest=inputs_digest(prepared.inputs, key),
        upstream_digest=upstream_digest(prepared.inputs, key),
        source=prepared.source,
        engine=prepared.engine.identity,
    )


def _reason(prepared: Prepared) -> str:
    if prepared.record.status is Status.OK:
        return str(prepared.comparison)
    return f"the plan is empty (was {prepared.record.status})"


def _is_news(prepared: Prepared, seen: Observe) -> bool:
    record = prepared.record
    said = (record.status, record.state, record.objects, record.inputs_digest, record.upstream_digest)
    now = (seen.status, seen.state, seen.objects, seen.inputs_digest, seen.upstream_digest)
    if said != now or dict(record.outputs) != dict(seen.outputs or {}):
        return True
    if dict(record.inputs) != dict(seen.inputs or {}):  # digests of secrets are not made without a key
        return True
    return record.engine != seen.engine or _digests(record.source) != _digests(seen.source)


def _digests(source: Source | None) -> tuple[str, ...]:
    return (source.digest, source.lock) if source else ()  # a new commit alone is no news
