"""A repair of a module's state, recorded as the operation that it is: nothing but the state is changed by it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.engine_run import PlannedChange, Stream
from hybridwrap.domain.entry import Begin, CloudObject, End, Locks
from hybridwrap.domain.evidence import unchanged
from hybridwrap.domain.inputs import ResolvedInputs
from hybridwrap.domain.open_objects import accounted
from hybridwrap.domain.partial import objects_after, outputs_after
from hybridwrap.domain.ports import ModuleEngine, OperationFolder
from hybridwrap.domain.record import Record
from hybridwrap.domain.state import EngineState, Found, instances_of
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.domain.verdict import judge
from hybridwrap.errors import PreflightRefused
from hybridwrap.run.context import Context
from hybridwrap.run.looking import Seen
from hybridwrap.run.masking import secrets_of
from hybridwrap.run.names import pass_names_on
from hybridwrap.run.preparation import mark_of, state_again
from hybridwrap.run.recording import begin, end


class Repair(Struct, frozen=True):
    """What a repair sets out to do; `act` changes the state, and says what became of it without raising."""

    command: str
    engine: ModuleEngine
    inputs: ResolvedInputs
    objects: tuple[CloudObject, ...]  # all that are known
    act: Callable[[OperationFolder], Acted]
    planned: tuple[PlannedChange, ...] = ()


class Acted(Struct, frozen=True):
    """What a repair did; `end` has what is particular to it, the rest is read from the state."""

    done: bool
    end: End
    imported: tuple[PlannedChange, ...] = ()


def equipped(seen: Seen) -> tuple[ModuleEngine, ResolvedInputs]:
    """What a repair works with. Raise PreflightRefused when a look did not get as far."""
    look = seen.look
    if seen.engine is None or seen.inputs is None:
        raise PreflightRefused(
            f"{look.module}: its state can't be repaired: {look.obstacle or 'its inputs are not known'}",
            hint=look.obstacle_hint or judge(look).next,
        )
    return seen.engine, seen.inputs


def carry_out_repair(context: Context, seen: Seen, repair: Repair) -> End:
    """Take the module, repair, record. Raise ModuleBusy, SlotTaken or LedgerUnreachable when nothing was done.

    Raise ResultNotSent or Superseded after.
    """
    record = context.knowledge.record(seen.look.module)
    folder = context.tools.folders.make(context.tools.ids.new())
    held = begin(context, folder, record, lambda locks: _intent(context, seen, repair, locks))
    context.watch.phase(record.module, repair.command)
    pass_names_on(folder, seen.look.names)
    acted = repair.act(folder)
    body = _end(repair, held, acted, before=seen.look.found, found=state_again(repair.engine))
    body = replace(body, log=str(folder.events))
    end(context, folder, held, body, secrets_of(context, repair.inputs))
    return body


def _intent(context: Context, seen: Seen, repair: Repair, locks: Locks) -> Begin:
    """The module is not made of anything else by a repair: source and inputs stay the recorded ones."""
    record, state = seen.look.record, seen.look.state
    modules = context.tools.stack.modules
    return Begin(
        command=repair.command,
        run=context.run,
        engine=repair.engine.identity,
        source=record.source or context.tools.sources.describe(modules[record.module]),
        state=mark_of(repair.engine, state),
        locks=locks,
        planned=repair.planned,
        inputs=record.inputs,
        inputs_digest=record.inputs_digest,
        upstream_digest=record.upstream_digest,
        previous_status=record.status,
        previous_outputs=record.outputs,
    )


def _end(repair: Repair, held: Record, acted: Acted, *, before: Found, found: Found) -> End:
    state = found if isinstance(found, EngineState) else None
    was = before if isinstance(before, EngineState) else None
    if not acted.done and not acted.end.kept and unchanged(was, found):
        return replace(
            acted.end,
            outcome=Outcome.CANCELLED,
            status=held.settled,
            state=held.state,
            outputs=held.outputs,
            objects=held.objects,
        )
    objects = objects_after(repair.objects, Stream(planned=acted.imported), found)
    objects = accounted(objects, instances_of(found) or ())
    still_open = state is None or acted.end.kept is not None or any(o.open for o in objects)
    return replace(
        acted.end,
        outcome=Outcome.SUCCEEDED if acted.done and state else Outcome.FAILED,
        status=Status.UNKNOWN if still_open else Status.ERROR,
        state=mark_of(repair.engine, state) if state else held.state,
        outputs=outputs_after(
            succeeded=False,
            declared=(),
            output_changes={},
            before=held.outputs,
            state_before=None,
            state_after=state,
        ),
        objects=objects,
    )
