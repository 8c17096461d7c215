"""The part of an operation that changes nothing: plan, and look whether the state is the recorded one."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import NoReturn

from hybridwrap.domain.command_failed import CommandFailed
from hybridwrap.domain.engine_run import Action, PlannedChange
from hybridwrap.domain.entry import Source, StateMark
from hybridwrap.domain.guard import Comparison, Match, compare_with, written_by_newer
from hybridwrap.domain.inputs import ResolvedInputs
from hybridwrap.domain.ports import ModuleEngine, OperationFolder, Planned
from hybridwrap.domain.record import Record
from hybridwrap.domain.redaction import Redaction
from hybridwrap.domain.stack import Module
from hybridwrap.domain.state import EngineState, Unreadable, instances_of
from hybridwrap.domain.status import Status
from hybridwrap.domain.told_time import in_utc
from hybridwrap.errors import OutcomeUnknown, PreflightRefused, StateNotTheRecordedOne
from hybridwrap.run.busy import refuse_busy, refuse_locked
from hybridwrap.run.context import Context
from hybridwrap.run.identity import take_identity
from hybridwrap.run.masking import listener, mask_of, masked_failure
from hybridwrap.run.state_lock import clear_recorded

QUIET_ACTIONS = frozenset({Action.NOOP, Action.READ})


@dataclass(frozen=True, slots=True)
class Prepared:
    """A module whose plan was made and may be applied; its plan file lies in `folder`."""

    module: Module
    engine: ModuleEngine
    folder: OperationFolder
    record: Record
    inputs: ResolvedInputs
    planned: Planned
    state: EngineState | None
    comparison: Comparison
    source: Source
    mask: Redaction = field(repr=False)  # of all that was known to be secret when the plan was made

    @property
    def operation(self) -> str:
        return self.folder.operation

    @property
    def mark(self) -> StateMark:
        return self.comparison.found

    @property
    def actions(self) -> tuple[PlannedChange, ...]:
        """What the plan does to objects; reads and no-ops left out."""
        return tuple(change for change in self.planned.stream.planned if change.action not in QUIET_ACTIONS)


def taken_up(context: Context, module: Module, inputs: ResolvedInputs) -> tuple[Record, ModuleEngine, OperationFolder]:
    """Get the engine and a folder for a module that is free and fit. Raise as `prepare` does, before any plan."""
    record = context.knowledge.record(module.name)
    refuse_busy(context, record)
    if not context.options.plan.destroy:
        refuse_unfit(record)
    engine = context.tools.engines.at(module, inputs.values)
    take_identity(context, module, engine)
    clear_recorded(context, engine, record)
    folder = context.tools.folders.make(context.tools.ids.new())
    return record, engine, folder


def prepare(context: Context, module: Module, inputs: ResolvedInputs) -> Prepared:
    """Plan one module. Raise PreflightRefused, ModuleBusy, OutcomeUnknown, StateNotTheRecordedOne, EngineFailed."""
    record, engine, folder = taken_up(context, module, inputs)
    with ExitStack() as on_failure:
        on_failure.callback(folder.remove)
        planned = _plan(context, engine, folder, inputs, module.name)
        state, comparison = look(context, engine, record)
        source = context.tools.sources.describe(module)
        on_failure.pop_all()
    context.knowledge.learn_secrets(module.name, state)
    if comparison.match is Match.ADVANCED and comparison.recorded and comparison.recorded.lineage:
        context.watch.warning(module.name, str(comparison))
    if older := written_by_newer(state, engine.identity):
        context.watch.warning(module.name, older)
    return Prepared(
        module, engine, folder, record, inputs, planned, state, comparison, source, mask_of(context, inputs)
    )


def refuse_unfit(record: Record) -> None:
    """Stop before any engine is started where the stored status does not allow an apply."""
    match record.status:
        case Status.UNKNOWN:
            raise OutcomeUnknown(
                f"{record.module}: the outcome of {record.command} {record.operation} is unknown: {record.reason}",
                hint=f"hybridwrap reconcile {record.module}",
            )
        case Status.RETAINED:
            raise PreflightRefused(
                f"{record.module} is retained: {record.reason}", hint=f"hybridwrap adopt {record.module}"
            )


def _plan(
    context: Context, engine: ModuleEngine, folder: OperationFolder, inputs: ResolvedInputs, name: str
) -> Planned:
    initialised(context, engine, folder, inputs, name)
    try:
        context.watch.phase(name, "plan")
        return engine.plan(folder, inputs.values, context.options.plan, listener(context, name, inputs))
    except CommandFailed as error:
        refuse_locked(context, name, error)
        raise masked_failure(mask_of(context, inputs), error) from error


def initialised(
    context: Context, engine: ModuleEngine, folder: OperationFolder, inputs: ResolvedInputs, name: str
) -> None:
    """Have the engine initialised where it has to be. Raise CommandFailed, PreflightRefused, StateLocked."""
    context.knowledge.learn_inputs(name, inputs.secret_values)
    try:
        context.watch.phase(name, "init")
        engine.init(folder)
    except CommandFailed as error:
        refuse_locked(context, name, error)
        raise masked_failure(mask_of(context, inputs), error) from error


def look(context: Context, engine: ModuleEngine, record: Record) -> tuple[EngineState | None, Comparison]:
    """Read the state and compare it with its record. Raise PreflightRefused, StateNotTheRecordedOne."""
    state = engine.state()
    found, moved = mark_of(engine, state), context.options.state_moved
    comparison = compare_with(record, found, instances_of(state), moved=moved)
    if not comparison.safe:
        _refuse_state(record, comparison)
    return state, comparison


def mark_of(engine: ModuleEngine, state: EngineState | None) -> StateMark:
    return StateMark(engine.place, state.lineage, state.serial) if state else StateMark(engine.place)


def _refuse_state(record: Record, comparison: Comparison) -> NoReturn:
    recorded, found = comparison.recorded, comparison.found
    if recorded is None:
        raise AssertionError("nothing recorded is always safe")
    if comparison.match is Match.MOVED:
        raise PreflightRefused(
            f"{record.module}: its state is recorded at {recorded.place}, and would now be at {found.place}",
            hint="restore the state settings, or move the state and apply with --state-moved",
        )
    seen = f"serial {found.serial}, lineage {found.lineage}" if found.lineage else "no state"
    raise StateNotTheRecordedOne(
        f"{record.module} stopped before anything: {comparison}\n"
        f"  recorded  serial {recorded.serial}, lineage {recorded.lineage}, {len(record.objects)} objects; "
        f"{record.command} {record.operation}, {in_utc(record.since)} by {record.by}\n"
        f"  found     {seen} at {found.place}\n"
        f"  likely    wrong account, bucket, key or workspace; state deleted or restored; renamed without `mv`",
        hint="hybridwrap doctor    shows which account and places are in use; "
        f"then: hybridwrap reconcile {record.module}",
    )


def state_again(engine: ModuleEngine) -> EngineState | Unreadable | None:
    """Read the state after something was done; that it can't be read is an answer, too."""
    try:
        return engine.state()
    except OutcomeUnknown as error:
        return Unreadable(error.message)
