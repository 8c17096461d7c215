"""What a dead operation has done, by what it left on this host and by the engine's state.

Keeps: where its event file can't be read, nothing is called cancelled, failed or done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from hybridwrap.domain.declared import module_from
from hybridwrap.domain.duration import in_words
from hybridwrap.domain.engine_run import Ended, Stream
from hybridwrap.domain.entry import Begin, End
from hybridwrap.domain.evidence import unchanged
from hybridwrap.domain.inputs import secrets_from_outside
from hybridwrap.domain.json import Json
from hybridwrap.domain.open_objects import perhaps_begun
from hybridwrap.domain.outcome import Seen, judge
from hybridwrap.domain.partial import objects_after, outputs_after
from hybridwrap.domain.ports import Applied, ModuleEngine, OperationFolder
from hybridwrap.domain.record import Holder, Record
from hybridwrap.domain.redaction import Redaction
from hybridwrap.domain.stack import Module
from hybridwrap.domain.state import EngineState, Found, Unreadable, instances_of
from hybridwrap.domain.state_lock import StateLock, was_held_in
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.errors import ModuleBusy, PreflightRefused, StateUnreadable, Stopped
from hybridwrap.run.absence import concluded
from hybridwrap.run.account import Account, as_end
from hybridwrap.run.context import Context
from hybridwrap.run.identity import take_identity
from hybridwrap.run.names import keep_names
from hybridwrap.run.preparation import mark_of
from hybridwrap.run.rescue import rescue
from hybridwrap.run.state_lock import release_own

BY_EVENTS = frozenset({"apply", "destroy"})  # commands whose event stream tells what they did
NOTHING = Stream()
Lock = StateLock | Unreadable | None


@dataclass(frozen=True, slots=True)
class Remains:
    """A dead operation that holds its module, and what it left; nothing of it where its folder can't be seen."""

    held: Record
    folder: OperationFolder  # of the holder: its result is kept there
    left: Path | None = None  # the folder where its engine was at work
    complete: bool = False  # the host was not restarted under the engine: all that it said is in the event file
    told: Stream = NOTHING
    planned: Stream = NOTHING
    inputs: Mapping[str, Json] = field(default_factory=dict, repr=False)
    whole: bool = True
    locks: frozenset[str] = frozenset()  # ids of state locks that it is recorded to hold

    @property
    def holder(self) -> Holder:
        if self.held.holder is None:
            raise AssertionError(f"{self.held.module} is free")
        return self.held.holder

    @property
    def intent(self) -> Begin:
        if self.held.intent is None:
            raise AssertionError(f"{self.held.module} is free")
        return self.held.intent

    @property
    def before(self) -> EngineState | None:
        """The state that was planned on, as far as `begin` tells of it."""
        mark = self.intent.state
        return EngineState(mark.lineage, mark.serial) if mark.lineage else None

    @property
    def not_started(self) -> bool:
        return self.complete and self.told == NOTHING


def end_of(context: Context, remains: Remains) -> tuple[End, Redaction]:
    """Judge a dead operation, and release a state lock that is proven to be its own; return what masks its logs.

    Raise PreflightRefused, EngineNotUsable or OutcomeUnknown when the engine's state can't be asked for.
    """
    module = _module(context, remains)
    engine = context.tools.engines.at(module, remains.inputs)
    take_identity(context, module, engine)
    lock = _lock_after_settling(context, engine, remains)
    _refuse_foreign(remains, lock)
    judged = _by_events if remains.intent.command in BY_EVENTS else _by_state
    body, mask = judged(context, engine, remains, lock)
    log = str(remains.left / remains.folder.events.name) if remains.left else ""
    return replace(body, state_lock=_left_lock(context, engine, remains, lock), log=log), mask


def _by_events(context: Context, engine: ModuleEngine, remains: Remains, lock: Lock) -> tuple[End, Redaction]:
    module = _module(context, remains)
    unsaved = engine.repair.unsaved_state() if remains.told.mutations else None
    applied = Applied(Ended(), remains.told, unsaved)
    rescued = rescue(context, engine, remains.folder, remains.intent.state, applied)
    found, mask = _found(context, engine, remains)
    verdict = judge(
        Seen(
            command=remains.intent.command,
            ended=applied.ended,
            stream=remains.told,
            before=remains.before,
            after=found,
            errored_state=unsaved is not None,
            rescued=rescued.done,
            lock_gone=lock is None,
            stream_complete=remains.complete,
            previous=remains.held.settled,
        )
    )
    if verdict.outcome is Outcome.CANCELLED and remains.not_started:
        verdict = replace(verdict, reason="nothing ran: hybridwrap was gone before it started the engine")
    account = Account(
        held=remains.held,
        engine=engine,
        declared=module.interface.outputs,
        planned=remains.planned,
        whole=remains.whole,
        before=None,  # its outputs were those of the record
        applied=applied,
        found=found,
        verdict=verdict,
        mask=mask,
    )
    body = replace(as_end(account), kept=rescued.kept, evidence=(rescued.told,) if rescued.told else ())
    if verdict.outcome is Outcome.UNKNOWN and not remains.complete:
        unseen = perhaps_begun(remains.intent.planned, body.objects, instances_of(found) or ())
        body = replace(body, objects=(*body.objects, *unseen))
    if verdict.absence:
        body = concluded(context, module, remains.held, body, verdict.absence, mask)
    keep_names(engine, remains.folder, body.objects, mask)
    return body, mask


def _by_state(context: Context, engine: ModuleEngine, remains: Remains, lock: Lock) -> tuple[End, Redaction]:
    """Judge a command of which only the state tells; one that left its lock behind did not come to its end."""
    held, command = remains.held, remains.intent.command
    found, mask = _found(context, engine, remains)
    if remains.complete and unchanged(remains.before, found):
        reason = f"nobody saw `{command}` end; the state is as it was"
        return End(Outcome.CANCELLED, held.settled, held.state, held.outputs, held.objects, reason=reason), mask
    state = found if isinstance(found, EngineState) else None
    saved = remains.left is not None and lock is None and state is not None
    return End(
        outcome=Outcome.FAILED if saved else Outcome.UNKNOWN,
        status=Status.ERROR if saved else Status.UNKNOWN,
        state=mark_of(engine, state) if state else held.state,
        outputs=outputs_after(
            succeeded=False,
            declared=(),
            output_changes={},
            before=held.outputs,
            state_before=None,
            state_after=state if saved else None,
        ),
        objects=objects_after(held.objects, NOTHING, found),
        reason=f"nobody saw `{command}` end" + ("; what it did is saved" if saved else ""),
    ), mask


def _found(context: Context, engine: ModuleEngine, remains: Remains) -> tuple[Found, Redaction]:
    """The state as it is now, and what must not be seen in any text. Raise OutcomeUnknown when it can't be read."""
    try:
        found: Found = engine.state()
    except StateUnreadable as error:
        found = Unreadable(error.message)
    return found, mask_of(context, remains, found)


def mask_of(context: Context, remains: Remains, found: Found) -> Redaction:
    """Know the secrets that the dead operation knew: as far as they are still on this host, or in the state."""
    name = remains.held.module
    context.knowledge.learn_secrets(name, found if isinstance(found, EngineState) else None)
    secret = (name for name, kept in remains.intent.inputs.items() if kept.sensitive)
    own = [remains.inputs[name] for name in secret if name in remains.inputs]
    module = context.tools.stack.modules.get(name)
    outside = secrets_from_outside(module, context.tools.host) if module else ()
    return Redaction((*context.knowledge.secret_values, *own, *outside))


def _lock_after_settling(context: Context, engine: ModuleEngine, remains: Remains) -> Lock:
    """The engine's state lock, once no write of the dead engine can be on its way any more.

    An engine that came to its end has waited for its own writes, and so has one that released its lock; the local
    file system keeps nothing back.
    """
    lock = engine.state_lock()
    ended = remains.told.final is not None or (bool(remains.told.errors) and lock is None)
    seconds = context.tools.settle_seconds
    if ended or remains.not_started or engine.place.backend == "local" or not seconds:
        return lock
    name = remains.held.module
    context.watch.warning(
        name, f"waiting {in_words(seconds)}: a state that its killed engine sent may still be on its way"
    )
    if not context.stop.wait(seconds):
        raise Stopped(context.stop.reason)
    return engine.state_lock()


def _left_lock(context: Context, engine: ModuleEngine, remains: Remains, lock: Lock) -> str:
    """Release the lock that is proven to be the dead engine's; return its id when that is not possible."""
    if not isinstance(lock, StateLock):
        return ""
    if _is_own(remains, lock):
        return "" if release_own(context, engine, remains.held.module, lock) else lock.id
    context.watch.warning(remains.held.module, f"its state is locked, and it is not proven by whom: {lock}")
    return ""


def _is_own(remains: Remains, lock: StateLock) -> bool:
    return lock.id in remains.locks or was_held_in(remains.told, lock)


def _refuse_foreign(remains: Remains, lock: Lock) -> None:
    """Where only a word says that the engine is dead, a lock that may be its own says that it may be alive."""
    if remains.left is None and isinstance(lock, StateLock) and lock.holds and not _is_own(remains, lock):
        name = remains.held.module
        raise ModuleBusy(
            f"{name} is taken over, and stays held: its state is locked, and it is not proven by whom: {lock}",
            hint=f"once you know that nobody works on it: hybridwrap unlock {name} --state-lock {lock.id}",
        )


def _module(context: Context, remains: Remains) -> Module:
    """The module as the manifest has it; an orphan as its intent says that it was declared."""
    name, stack, declared = remains.held.module, context.tools.stack, remains.intent.declared
    if name in stack.modules:
        return stack.modules[name]
    if declared is None:
        holder = remains.holder
        raise PreflightRefused(
            f"{name} is held by {holder.command} {holder.operation}, which is dead, and is not in the manifest: "
            "its state can't be looked at",
            hint=f"put {name} back into the manifest",
        )
    return module_from(name, declared, stack)
