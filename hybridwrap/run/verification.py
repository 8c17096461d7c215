"""Look again whether modules are gone, at any time after their teardown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hybridwrap.domain.absence import Answer, Case, Finding, Probe
from hybridwrap.domain.engine_run import Stream
from hybridwrap.domain.entry import Observe
from hybridwrap.domain.evidence import Absence
from hybridwrap.domain.partial import objects_after
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd, RunEnd
from hybridwrap.domain.stack import Module
from hybridwrap.domain.state import EngineState
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.domain.verdict import gone
from hybridwrap.run.absence import look_for
from hybridwrap.run.context import Context
from hybridwrap.run.identity import take_identity
from hybridwrap.run.left_alone import NOT_ALL_GONE
from hybridwrap.run.preparation import mark_of
from hybridwrap.run.recorded import recorded_run
from hybridwrap.run.turn import wait_for_turn
from hybridwrap.run.walk import Way, walk


def verify(context: Context, modules: Sequence[str], word: str = "") -> RunEnd:
    """Ask once more about each module that was torn down, and record what was seen.

    `word` is that of an operator who has looked where nobody else can: nothing is there, and how he knows.
    """

    def work() -> Mapping[str, ModuleEnd]:
        return walk(context, modules, lambda name: _verify(context, name, word), Way({}))

    return recorded_run(context, "verify", modules, work)


def _verify(context: Context, name: str, word: str) -> ModuleEnd:
    record, module = wait_for_turn(context, name), context.tools.stack.modules[name]
    if record.settled is not Status.DESTROYED and not _was_destroyed(record):
        return _not_torn_down(context, record)
    case = _case(context, module, record)
    if record.settled is Status.DESTROYED and not case.engine.left and not (module.verify.asks or word):
        return ModuleEnd("unchanged", reason="its state is empty; nobody else can be asked: it has no `verify`")
    found = look_for(context, module, case, _said(context, word))
    if found.status is Status.ERROR and record.settled is Status.DESTROYED and not (found.objects or case.engine.left):
        return ModuleEnd("unchanged", NOT_ALL_GONE, reason=found.reason)  # nobody could look: no news
    return _recorded(context, module, record, (case, found))


def _said(context: Context, word: str) -> Probe | None:
    return Probe(f"{context.tools.ledger.writer} says", Answer.ABSENT, detail=f"({word})", word=True) if word else None


def _not_torn_down(context: Context, record: Record) -> ModuleEnd:
    if record.settled is Status.NONE:
        return ModuleEnd("unchanged", reason="never applied")
    again = f"hybridwrap destroy {context.tools.stack.named(record.module)}"
    hint = again if record.settled in (Status.ERROR, Status.UNKNOWN) else ""
    return ModuleEnd("unchanged", reason=f"{record.settled}: its engine has not destroyed it", hint=hint)


def _was_destroyed(record: Record) -> bool:
    """Whether its engine has said that all is destroyed, and only the look for it did not show that."""
    return record.command == "destroy" and record.outcome is Outcome.SUCCEEDED


def _case(context: Context, module: Module, record: Record) -> Case:
    engine = context.tools.engines.at(module)
    take_identity(context, module, engine)
    state = engine.state()
    return Case(
        engine=Absence(
            ended_well=True,
            same_lineage=_is_recorded(record, state),
            readable=state is None or state.readable,
            left=state.instances if state else (),
        ),
        state=mark_of(engine, state),
        known=record.objects,
        left=objects_after(record.objects, Stream(), state),
        doubted=record.doubted,
    )


def _is_recorded(record: Record, state: EngineState | None) -> bool:
    recorded = record.state.lineage if record.state else ""
    return recorded == (state.lineage if state else "")


def _recorded(context: Context, module: Module, record: Record, seen: tuple[Case, Finding]) -> ModuleEnd:
    case, found = seen
    body = Observe(
        run=context.run,
        reason=found.reason,
        status=found.status,
        state=case.state,
        objects=found.objects,
        evidence=found.evidence or (found.reason,),
    )
    context.knowledge.learn(context.tools.ledger.observe(record, body))
    code = NOT_ALL_GONE if found.status is Status.ERROR else 0
    return ModuleEnd(str(found.status), code, reason=found.reason, hint=_hint(context, module, found) if code else "")


def _hint(context: Context, module: Module, found: Finding) -> str:
    named = context.tools.stack.named(module.name)
    return gone(named) if found.blind else f"once that is deleted: hybridwrap verify {named}"
