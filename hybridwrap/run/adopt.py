"""Take an engine state that exists into the ledger; the engine changes nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace  # noqa: TID251  of a dataclass
from itertools import pairwise

from hybridwrap.counting import count_of
from hybridwrap.domain.drift_checks import NOTHING_THERE
from hybridwrap.domain.engine_run import Stream
from hybridwrap.domain.entry import Adopt, Entry, Observe, Retain, StateMark
from hybridwrap.domain.fold import fold
from hybridwrap.domain.ledger import FRESH
from hybridwrap.domain.partial import objects_after, outputs_after
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd, RunEnd
from hybridwrap.domain.state import EngineState
from hybridwrap.domain.status import Status
from hybridwrap.errors import NothingHappened, OutcomeUnknown, PreflightRefused
from hybridwrap.run.context import Context
from hybridwrap.run.identity import take_identity
from hybridwrap.run.masking import mask_for, withheld
from hybridwrap.run.preparation import Prepared, mark_of
from hybridwrap.run.recorded import recorded_run
from hybridwrap.run.turn import wait_for_turn
from hybridwrap.run.walk import Way, walk

ADOPTABLE = frozenset({Status.NONE, Status.RETAINED, Status.DESTROYED})


def adopt(context: Context, modules: Sequence[str], reason: str, *, must_have_state: Collection[str]) -> RunEnd:
    """Adopt the states of modules; those that the ledger knows already are left as they are.

    A state is what it is, whatever becomes of the others: none waits for another one.
    """

    def adopt_one(name: str) -> ModuleEnd:
        end = _adopt(context, name, reason)
        if end.result == NOTHING_THERE and name in must_have_state:
            raise PreflightRefused(f"{name}: {end.reason}", hint=f"hybridwrap apply {name}")
        return end

    def work() -> Mapping[str, ModuleEnd]:
        return walk(context, modules, adopt_one, Way({}))

    return recorded_run(context, "adopt", modules, work)


def adopted_on_the_way(context: Context, prepared: Prepared) -> Prepared:
    """Adopt the state of a module of which the ledger has nothing before its plan is carried out."""
    if prepared.record.status not in FRESH:
        return prepared
    try:
        return _with_its_state(context, prepared)
    except NothingHappened:
        prepared.folder.remove()
        raise


def _with_its_state(context: Context, prepared: Prepared) -> Prepared:
    """Adopt what is in a state; that nobody else has it by now, only the ledger itself can say."""
    from hybridwrap.run.rename import refuse_renamed

    name, state = prepared.module.name, prepared.state
    found = state is not None and bool(state.instances)
    records = context.tools.ledger.records() if found else context.knowledge.records
    refuse_renamed(context.tools.stack, records, name, prepared.mark.place)
    if state is None or not found:
        return prepared
    context.watch.warning(name, f"not in the ledger: adopting its state ({len(state.instances)} objects)")
    record = _write(context, prepared.record, state, prepared.mark, f"found by {context.options.command}")
    return replace(prepared, record=record)


def _adopt(context: Context, name: str, reason: str) -> ModuleEnd:
    from hybridwrap.run.rename import refuse_renamed

    record = wait_for_turn(context, name)
    if record.status not in ADOPTABLE:
        return ModuleEnd("unchanged", reason=f"already in the ledger: {record.status}")
    module = context.tools.stack.modules[name]
    engine = context.tools.engines.at(module)
    take_identity(context, module, engine)
    refuse_renamed(context.tools.stack, context.tools.ledger.records(), name, engine.place)
    state = engine.state()
    if state is None or not (state.instances or state.outputs):
        return ModuleEnd(NOTHING_THERE, reason=f"nothing to adopt: there is no state at {engine.place}")
    if doubt := doubt_behind(record, context.tools.ledger.history(name)):
        return _unknown_again(context, record, f"{doubt} (retained since, adopted: {reason})")
    _write(context, record, state, mark_of(engine, state), reason)
    counts = {"objects": len(state.instances), "outputs": len(state.outputs)}
    return ModuleEnd(
        "ok", reason=f"adopted {count_of(len(state.instances), 'object')}, serial {state.serial}", counts=counts
    )


def doubt_behind(record: Record, history: Sequence[Entry]) -> str:
    """Why a retained module is not known well enough to be adopted; empty when it is."""
    if record.status is not Status.RETAINED:
        return ""
    retained = next((i for i in reversed(range(len(history))) if isinstance(history[i].body, Retain)), 0)
    before = Record(record.module)
    for entry, follower in pairwise(history[: retained + 1]):
        before = fold(before, entry, follower.prev)
    open_ones = [o.address for o in record.objects if o.open]
    if before.settled is Status.UNKNOWN:
        return before.reason
    return f"nobody knows how these ended: {', '.join(open_ones)}" if open_ones else ""


def _unknown_again(context: Context, record: Record, reason: str) -> ModuleEnd:
    """End the retention only: what was unknown before it is so again, and waits for a look."""
    body = Observe(context.run, reason, status=Status.UNKNOWN)
    context.knowledge.learn(context.tools.ledger.observe(record, body))
    return ModuleEnd("unknown", OutcomeUnknown.exit_code, reason=reason, hint=f"hybridwrap reconcile {record.module}")


def _write(context: Context, record: Record, state: EngineState, mark: StateMark, reason: str) -> Record:
    outputs = outputs_after(
        succeeded=True,
        declared=tuple(state.outputs),
        output_changes={},
        before={},
        state_before=None,
        state_after=state,
    )
    body = Adopt(
        run=context.run,
        reason=reason,
        state=mark,
        outputs=withheld(mask_for(context, record.module, state), outputs),
        objects=objects_after(record.objects, Stream(), state),
    )
    adopted = context.tools.ledger.adopt(record, body)
    context.knowledge.learn(adopted)
    return adopted
