"""Run an engine command that a person typed; one that can change the state is an operation like any other."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from msgspec import Struct

from hybridwrap.domain.engine_command import TAKE_VARIABLES, Effect, effect_of, name_of
from hybridwrap.domain.engine_run import Ended, Stream
from hybridwrap.domain.entry import Begin, End, Locks, StateMark
from hybridwrap.domain.evidence import unchanged
from hybridwrap.domain.inputs import ResolvedInputs
from hybridwrap.domain.partial import objects_after, outputs_after, taken_out
from hybridwrap.domain.ports import ModuleEngine, OperationFolder
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.stack import Module
from hybridwrap.domain.state import EngineState, Found
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.errors import EngineFailed, HybridwrapError, OutcomeUnknown, PreflightRefused
from hybridwrap.run.context import Context
from hybridwrap.run.ends import end_of
from hybridwrap.run.identity import take_identity
from hybridwrap.run.masking import mask_for
from hybridwrap.run.needs import resolve
from hybridwrap.run.preparation import look, mark_of, state_again
from hybridwrap.run.recorded import recorded_run
from hybridwrap.run.recording import begin, end
from hybridwrap.run.turn import wait_for_turn

KEPT = frozenset({Status.OK, Status.ERROR, Status.UNKNOWN, Status.RETAINED})


class _Command(Struct, frozen=True):
    module: Module
    words: tuple[str, ...]
    engine: ModuleEngine
    folder: OperationFolder
    inputs: ResolvedInputs

    @property
    def name(self) -> str:
        return f"tf {name_of(self.words)}"

    def run(self) -> Ended:
        with_variables = name_of(self.words) in TAKE_VARIABLES
        return self.engine.run(self.folder, self.words, self.inputs.values if with_variables else None)


def reads_only(module: str, words: Sequence[str]) -> bool:
    """Raise UsageError for a command that has one of our own in its place."""
    return effect_of(words, module) is Effect.READS


def run_reading(context: Context, name: str, words: tuple[str, ...]) -> int:
    """Run a command that changes nothing; return the engine's exit code, which may be an answer (`fmt -check`)."""
    command = _command(context, name, words)
    try:
        ended = command.run()
        return ended.exit_code if ended.exit_code is not None else 128 + (ended.signal or 0)
    finally:
        command.folder.remove()


def run_changing(context: Context, name: str, words: tuple[str, ...]) -> int:
    """Run a command between `begin` and `end`; return the exit code of the run. Raise as an apply does."""
    failed: list[HybridwrapError] = []

    def work() -> dict[str, ModuleEnd]:
        try:
            wait_for_turn(context, name)
            return {name: _operation(context, _command(context, name, words))}
        except HybridwrapError as error:  # told once the run's end is recorded
            failed.append(error)
            return {name: end_of(error)}

    run_end = recorded_run(context, f"tf {name_of(words)}", [name], work)
    if failed:
        raise failed[0]
    module_end = run_end.modules[name]
    if module_end.exit_code == OutcomeUnknown.exit_code:
        raise OutcomeUnknown(f"{name}: {module_end.reason}; what it did is not known", hint=module_end.hint)
    return run_end.exit_code


def _command(context: Context, name: str, words: tuple[str, ...]) -> _Command:
    tools = context.tools
    module = tools.stack.modules[name]
    inputs = resolve(context, name) if name_of(words) in TAKE_VARIABLES else ResolvedInputs({}, {})
    if isinstance(inputs, ModuleEnd):
        raise PreflightRefused(f"{name}: {inputs.reason}", hint=inputs.hint)
    engine = tools.engines.at(module, inputs.values)
    folder = tools.folders.make(tools.ids.new())
    with ExitStack() as on_failure:
        on_failure.callback(folder.remove)
        take_identity(context, module, engine)
        engine.init(folder)
        on_failure.pop_all()
    return _Command(module, words, engine, folder, inputs)


def _operation(context: Context, command: _Command) -> ModuleEnd:
    record = context.knowledge.record(command.module.name)
    with ExitStack() as on_failure:
        on_failure.callback(command.folder.remove)
        before, comparison = look(context, command.engine, record)
        on_failure.pop_all()
    held = begin(
        context, command.folder, record, lambda locks: _intent(context, command, record, comparison.found, locks)
    )
    ended = command.run()
    mask = mask_for(context, command.module.name, before)
    body = _result(command, held, ended, before)
    end(context, command.folder, held, body, mask)
    return _module_end(command, body, ended)


def _module_end(command: _Command, body: End, ended: Ended) -> ModuleEnd:
    operation = command.folder.operation
    if body.outcome is Outcome.UNKNOWN:
        hint = f"hybridwrap reconcile {command.module.name}"
        return ModuleEnd("unknown", OutcomeUnknown.exit_code, operation, body.reason, hint)
    if ended.exit_code == 0:
        return ModuleEnd("ok", 0, operation, body.reason)
    return ModuleEnd("error", EngineFailed.exit_code, operation, body.reason)


def _intent(context: Context, command: _Command, record: Record, mark: StateMark, locks: Locks) -> Begin:
    return Begin(
        command=command.name,
        run=context.run,
        engine=command.engine.identity,
        source=context.tools.sources.describe(command.module),
        state=mark,
        locks=locks,
        inputs=record.inputs,
        inputs_digest=record.inputs_digest,
        upstream_digest=record.upstream_digest,
        previous_status=record.status,
        previous_outputs=record.outputs,
    )


def _result(command: _Command, held: Record, ended: Ended, before: EngineState | None) -> End:
    found = state_again(command.engine)
    after = found if isinstance(found, EngineState) else None
    outcome, status = _judge(held, ended, before, found)
    reason = f"{command.name} ended with exit code {ended.exit_code}"
    removed = outcome is Outcome.SUCCEEDED and name_of(command.words) == "state rm"
    if outcome is Outcome.CANCELLED:
        return End(outcome, status, held.state, held.outputs, held.objects, reason=f"{reason}; the state is as it was")
    return End(
        outcome=outcome,
        status=status,
        state=mark_of(command.engine, after) if after else held.state,
        outputs=outputs_after(
            succeeded=status is Status.OK,
            declared=command.module.interface.outputs if status is Status.OK else (),
            output_changes={},
            before=held.outputs,
            state_before=before,
            state_after=after,
        ),
        objects=objects_after(taken_out(held.objects, after) if removed else held.objects, Stream(), after),
        failed_command=() if outcome is Outcome.SUCCEEDED else ended.argv,
        reason=f"{held.reason}; {reason}" if held.settled is status is Status.UNKNOWN else reason,
        log=str(command.folder.events),
    )


def _judge(held: Record, ended: Ended, before: EngineState | None, found: Found) -> tuple[Outcome, Status]:
    """Judge by the state: such a command says nothing about objects, only about what the state holds."""
    if unchanged(before, found) and ended.signal is None:
        return Outcome.CANCELLED, held.settled
    if ended.signal is not None or not isinstance(found, EngineState):
        return Outcome.UNKNOWN, Status.UNKNOWN
    if ended.exit_code != 0:
        return Outcome.FAILED, Status.ERROR
    return Outcome.SUCCEEDED, held.settled if held.settled in KEPT else Status.OK
