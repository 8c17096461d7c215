"""Look for drift: a refresh-only plan of each module, which changes nothing and takes nobody's turn.

Keeps: what is not certain is not called drift. While somebody else is at work on a module, it was not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.charter import stamp
from hybridwrap.domain.deviation import Change, Deviation
from hybridwrap.domain.drift import Acceptance, Difference, Drift, DriftResult
from hybridwrap.domain.drift_checks import ACCEPTED_DRIFT, COMMAND, NEW_DRIFT, NO_DRIFT, NOTHING_THERE
from hybridwrap.domain.engine_run import Action
from hybridwrap.domain.entry import Observe, StateMark
from hybridwrap.domain.guard import Match
from hybridwrap.domain.inputs import ResolvedInputs
from hybridwrap.domain.json import canonical
from hybridwrap.domain.left_behind import Liveness
from hybridwrap.domain.ports import PlanOptions
from hybridwrap.domain.record import Record, sound
from hybridwrap.domain.redaction import Redaction
from hybridwrap.domain.run import ModuleEnd, RunEnd
from hybridwrap.domain.stack import Module
from hybridwrap.domain.state_lock import StateLock
from hybridwrap.domain.status import Status
from hybridwrap.errors import LedgerUnreachable, ModuleBusy, OutcomeUnknown, PreflightRefused, SlotTaken
from hybridwrap.run.busy import busy, holder_in_words, locked
from hybridwrap.run.context import Context
from hybridwrap.run.masking import mask_of
from hybridwrap.run.preparation import Prepared, prepare
from hybridwrap.run.recorded import end_of_run, recorded_run
from hybridwrap.run.teardown_inputs import teardown_inputs
from hybridwrap.run.turn import when_unlocked
from hybridwrap.run.walk import Way, walk

ONLY_LOOK = PlanOptions(refresh_only=True, lock=False)
TRIES = 3  # how often a finding is offered to a log that others write to, too
RESULTS = {DriftResult.NONE: NO_DRIFT, DriftResult.NEW: NEW_DRIFT, DriftResult.ACCEPTED: ACCEPTED_DRIFT}
CHANGES = frozenset({Action.UPDATE, Action.DELETE, Action.CREATE})
NOT_LOOKED_AT = {
    Status.NONE: ModuleEnd(NOTHING_THERE, reason="nothing was applied"),
    Status.DESTROYED: ModuleEnd(NOTHING_THERE, reason="it is destroyed"),
    Status.RETAINED: ModuleEnd("retained", reason="its objects are on their own"),
}


class Look(Struct, frozen=True):
    """What a module was found to be; `deviations` have values, `drift` is what the ledger keeps or would keep."""

    module: str
    time: str
    drift: Drift
    deviations: tuple[Deviation, ...]

    @property
    def new(self) -> tuple[Difference, ...]:
        return self.drift.new(self.time[:10])

    @property
    def result(self) -> DriftResult:
        return self.drift.result(self.time[:10])

    @property
    def accepted(self) -> tuple[Acceptance, ...]:
        """The decisions that hold, as far as they are about what was found."""
        holding = (each for each in self.drift.accepted if self.time[:10] <= each.until)
        return tuple(each for each in holding if any(map(each.concerns, self.drift.differences)))


Tell = Callable[[Look], None]
Keep = Callable[[Context, Prepared, tuple[Difference, ...]], None]


def drift(context: Context, modules: Sequence[str], tell: Tell) -> RunEnd:
    """Look, and record what is news; the context's plan options must be ONLY_LOOK. Raise LedgerUnreachable before."""
    return recorded_run(context, COMMAND, modules, lambda: _looks(context, modules, tell, _record))


def drift_unrecorded(context: Context, modules: Sequence[str], tell: Tell) -> RunEnd:
    """Look, and write nothing down."""
    return end_of_run(context, _looks(context, modules, tell, lambda *_: None))


def _looks(context: Context, modules: Sequence[str], tell: Tell, keep: Keep) -> Mapping[str, ModuleEnd]:
    side_by_side = Way(dict.fromkeys(modules, ()))
    return walk(context, modules, lambda name: _look(context, name, tell, keep), side_by_side)


def _look(context: Context, name: str, tell: Tell, keep: Keep) -> ModuleEnd:
    record = _free(context, name)
    if record.status in NOT_LOOKED_AT:
        return NOT_LOOKED_AT[record.status]
    prepared, deviations = when_unlocked(context, name, lambda: _certain(context, context.knowledge.record(name)))
    record = prepared.record
    now = stamp(context.tools.clock.now())
    found = tuple(deviation.difference for deviation in deviations)
    look = Look(name, now, (record.drift or Drift()).seen(found, now), deviations)
    told = summary(look.new or look.drift.differences)
    end = ModuleEnd(RESULTS[look.result], reason=told, seconds=prepared.planned.ended.seconds)
    try:
        keep(context, prepared, found)
    except LedgerUnreachable as error:
        reason = "; ".join(filter(None, (told, f"not recorded: {error.message}")))
        end = replace(end, exit_code=error.exit_code, reason=reason, hint=error.hint)
    tell(look)
    return end


def _free(context: Context, name: str) -> Record:
    """The module's record once nobody holds it; what the dead left is for others to finish. Raise ModuleBusy."""
    waiting = context.waiting(name)
    while (record := context.knowledge.record(name)).holder:
        found = context.tools.folders.look(record.holder.locks)
        if found is Liveness.DEAD or waiting.seconds >= context.options.patience.seconds:
            raise busy(context, record, found)
        waiting.a_while(f"its turn: {holder_in_words(record, found)}")
        context.knowledge.learn(context.tools.ledger.record(name))
    return sound(record)


def _certain(context: Context, record: Record) -> tuple[Prepared, tuple[Deviation, ...]]:
    """Look until it is certain that nobody changed the state meanwhile. Raise ModuleBusy when it can't be."""
    prepared, deviations = _planned(context, record)
    if deviations and prepared.comparison.match is not Match.SAME:  # changed outside: before this look, or during it?
        again, deviations = _planned(context, record)
        if again.mark != prepared.mark:
            raise _changing(record.module)
    return prepared, deviations


def _planned(context: Context, record: Record) -> tuple[Prepared, tuple[Deviation, ...]]:
    module = context.tools.stack.modules[record.module]
    inputs = _inputs(context, module, record)
    prepared = prepare(context, module, inputs)
    try:
        drifted = [change for change in prepared.planned.stream.drifted if change.action in CHANGES]
        if not drifted:
            return prepared, ()
        _refuse_locked(context, prepared)
        bare = tuple(Deviation(change.address, change.action, change.type) for change in drifted)
        seen = prepared.engine.deviations(prepared.folder) or bare
        return prepared, tuple(_masked(mask_of(context, inputs), deviation) for deviation in seen)
    finally:
        prepared.folder.remove()


def _inputs(context: Context, module: Module, record: Record) -> ResolvedInputs:
    """Those that the objects were made with: with others, a provider could look elsewhere. Raise PreflightRefused."""
    try:
        return teardown_inputs(context, module, record)
    except PreflightRefused as error:
        raise PreflightRefused(error.message, hint=f"give it, then: hybridwrap drift {module.name}") from error


def _masked(mask: Redaction, deviation: Deviation) -> Deviation:
    """Hide the values in which a secret of the module's inputs turns up, whether its provider calls it one or not."""

    def shows(change: Change) -> bool:
        text = canonical([change.before, change.after]).decode()
        return mask.text(text) != text

    changes = (Change(change.path, hidden=True) if shows(change) else change for change in deviation.changes)
    return replace(deviation, changes=tuple(changes))


def _refuse_locked(context: Context, prepared: Prepared) -> None:
    with suppress(OutcomeUnknown):  # who may not see the lock can't be kept out by it
        lock = prepared.engine.state_lock()
        if isinstance(lock, StateLock) and lock.holds:
            raise locked(context, f"{prepared.module.name} is busy: {lock}")


def _record(context: Context, prepared: Prepared, found: tuple[Difference, ...]) -> None:
    """Write down what is news. Raise LedgerUnreachable, or ModuleBusy when somebody else acted on the module."""
    record, now = prepared.record, stamp(context.tools.clock.now())
    for tries_left in reversed(range(TRIES)):
        drift = record.drift or Drift()
        if drift.says(found):
            return
        seen = Observe(context.run, COMMAND, drift=drift.seen(found, now))
        try:
            context.knowledge.learn(context.tools.ledger.observe(record, seen))
        except SlotTaken:
            record = context.tools.ledger.record(record.module)
            if not tries_left or _moved(prepared.mark, record):
                raise _changing(record.module) from None
        else:
            return


def _moved(mark: StateMark, record: Record) -> bool:
    return record.holder is not None or record.state != mark


def _changing(module: str) -> ModuleBusy:
    return ModuleBusy(f"{module} is busy: it was changed while it was looked at", hint=f"hybridwrap drift {module}")


def summary(differences: Sequence[Difference]) -> str:
    """Name the first object and what is the matter with it, and say how many more there are."""
    if not differences:
        return ""
    first, *more = differences
    told = f"{first.address} {_in_words(first)}"
    return f"{told}, and {len(more)} more" if more else told


def _in_words(difference: Difference) -> str:
    match difference.action:
        case Action.DELETE:
            return "is gone"
        case Action.CREATE:
            return "is there again"
    return "changed"
