"""Record that owned modules are gone with their owner, and have the engine forget what it still has in their states."""

from __future__ import annotations

from contextlib import ExitStack

from hybridwrap.domain.codec import digest_of
from hybridwrap.domain.entry import Begin, End, Locks, Observe
from hybridwrap.domain.evidence import unchanged
from hybridwrap.domain.ports import ModuleEngine, OperationFolder
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.stack import Module
from hybridwrap.domain.state import EngineState
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.errors import EngineFailed, HybridwrapError, PreflightRefused
from hybridwrap.run.busy import refuse_busy
from hybridwrap.run.context import Context
from hybridwrap.run.owners import end_of_owner, gone_with_owner
from hybridwrap.run.preparation import look, mark_of, state_again
from hybridwrap.run.recording import begin, end

ARCHIVE = "state.tfstate"
COMMAND = "tf state rm"


def finish_owned(context: Context) -> None:
    """Record all that went with an owner and does not say so yet; what can't be recorded now is said, and stays."""
    for name, owner in gone_with_owner(context.knowledge.records).items():
        if try_to_settle(context, name, owner):
            context.watch.note(f"{name} is gone with its owner {owner}: recorded as destroyed")


def try_to_settle(context: Context, name: str, owner: str) -> bool:
    """Record a module as gone with its owner; where that is not possible now, say so: the next command tries again."""
    try:
        settle_owned(context, name)
    except HybridwrapError as error:
        context.watch.warning(name, f"it is gone with {owner}, which could not be recorded: {error.message}")
        return False
    return True


def settle_owned(context: Context, name: str) -> ModuleEnd:
    """Record a module as gone with its owner.

    Raise PreflightRefused when nothing shows that it is, ModuleBusy, EngineFailed when its state can't be emptied.
    """
    record = context.tools.ledger.record(name)
    refuse_busy(context, record)
    proof = end_of_owner(context, record)
    if proof is None:
        raise PreflightRefused(f"{name}: the life of its owner that it goes with is not confirmed absent")
    from hybridwrap.run.teardown_source import with_source

    module = with_source(context, name, record)
    engine = context.tools.engines.at(module)
    state, comparison = look(context, engine, record)
    kept: tuple[str, ...] = ()
    if state and state.instances:
        kept = _emptied(context, module, engine, record, state)
        record = context.knowledge.record(name)
    reason = f"gone with its owner {proof.module}"
    body = Observe(
        run=context.run,
        reason=reason,
        status=Status.DESTROYED,
        state=record.state if kept else comparison.found,
        objects=(),
        evidence=(f"its owner {proof.module} is absent: entry {proof.seq} ({proof.digest})", *kept),
        owner_end=proof,
    )
    context.knowledge.learn(context.tools.ledger.observe(record, body))
    return ModuleEnd("destroyed", reason=reason)


def _emptied(
    context: Context, module: Module, engine: ModuleEngine, record: Record, state: EngineState
) -> tuple[str, ...]:
    """Archive the state, then have the engine forget its objects; return what is kept of it, for the evidence."""
    folder = context.tools.folders.make(context.tools.ids.new())
    with ExitStack() as on_failure:
        on_failure.callback(folder.remove)
        engine.init(folder)
        archived = _archived(context, engine, folder)
        on_failure.pop_all()
    mark = mark_of(engine, state)
    held = begin(context, folder, record, lambda locks: _intent(context, engine, record, locks))
    ended, told = engine.repair.remove_from_state(folder, sorted({i.address for i in state.instances}))
    after = state_again(engine)
    done = isinstance(after, EngineState) and not after.instances
    outcome = Outcome.SUCCEEDED if done else Outcome.CANCELLED if unchanged(state, after) else Outcome.UNKNOWN
    body = End(
        outcome=outcome,
        status=Status.UNKNOWN if outcome is Outcome.UNKNOWN else held.settled,
        state=mark_of(engine, after) if isinstance(after, EngineState) else mark,
        outputs=held.outputs,
        objects=held.objects,
        failed_command=() if done else ended.argv,
        reason=f"{len(state.instances)} objects taken out of the state: they went with an owner" if done else told,
        evidence=archived,
        log=str(folder.events),
    )
    end(context, folder, held, body, None)
    if not done:
        raise EngineFailed(f"{module.name}: its state could not be emptied: {told}")
    return archived


def _intent(context: Context, engine: ModuleEngine, record: Record, locks: Locks) -> Begin:
    if record.source is None or record.state is None:
        raise AssertionError(f"{record.module} goes with an owner, and was never applied")
    return Begin(
        command=COMMAND,
        run=context.run,
        engine=engine.identity,
        source=record.source,
        state=record.state,
        locks=locks,
        inputs=record.inputs,
        inputs_digest=record.inputs_digest,
        upstream_digest=record.upstream_digest,
        previous_status=record.status,
        previous_outputs=record.outputs,
        owner_incarnation=record.owner_incarnation,
        declared=record.declared,
    )


def _archived(context: Context, engine: ModuleEngine, folder: OperationFolder) -> tuple[str, ...]:
    """Keep the whole state: in the ledger where that encrypts, as it may hold secrets; else in the operation's folder.

    What it held is in the ledger in any case: addresses, ids and outputs.
    """
    data = engine.state_bytes() or b""
    folder.keep(ARCHIVE, data)
    if context.tools.ledger.cipher is not None:
        return (f"its last state is kept as blob {context.tools.ledger.put_blob(data)}",)
    host = context.tools.ledger.writer.host
    return (f"its last state is kept as {folder.path / ARCHIVE} on {host} (sha256 {digest_of(data)})",)
