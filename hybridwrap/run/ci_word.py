"""The word of a CI system that the job of a holder has ended: as good as an operator's, and nobody has to be there.

Keeps: whatever is not the system's own word for an end changes nothing; the engine's state lock is released by it
only where the machine was thrown away after the job, and some time after that.
"""

from __future__ import annotations

from math import inf

from hybridwrap.domain.charter import stamp
from hybridwrap.domain.ci import CiAnswer, CiJob
from hybridwrap.domain.duration import in_words
from hybridwrap.domain.moments import seconds_between
from hybridwrap.domain.record import Holder, Record
from hybridwrap.domain.state_lock import StateLock, was_taken_by
from hybridwrap.errors import OutcomeUnknown
from hybridwrap.run.context import Context
from hybridwrap.run.identity import take_identity
from hybridwrap.run.takeover import end_on_word

# GitHub terminates by force what runs five minutes after it was cancelled
# (docs.github.com/en/actions/reference/workflow-cancellation-reference).
THROWN_AWAY_SECONDS = 300.0
ASK_AGAIN_SECONDS = 30.0


class CiWord:
    """Asks now and then about the job of one module's holder; `told` is what was said last."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._asked_at = -inf
        self.told = ""

    def ends(self, record: Record) -> bool:
        """Take over and end an operation whose job has ended; say whether that was done. Raise as `unlock` does."""
        now = self._context.tools.clock.monotonic()
        if now - self._asked_at < ASK_AGAIN_SECONDS:
            return False
        self._asked_at = now
        ended, self.told = _ended_on_its_word(self._context, record)
        return ended


def _ended_on_its_word(context: Context, record: Record) -> tuple[bool, str]:
    holder = record.holder
    job = holder.writer.ci if holder else None
    if holder is None or job is None:
        return False, ""
    answer = context.tools.ci.ask(job)
    if not answer.ended:
        return False, answer.told
    lock, why_not = _lock_in_the_way(context, record, holder)
    if lock and not why_not:
        why_not = _why_not_released(context, job, answer) or _why_not_its_own(context, record, holder, lock)
    if why_not:
        return False, f"{answer.told}, but {why_not}"
    context.watch.warning(record.module, f"{answer.told}; taking over from {holder.command} {holder.operation}")
    reason = answer.told + (f" at {answer.at}" if answer.at else "")
    end_on_word(context, record, reason, frozenset({lock.id}) if lock else frozenset())
    return True, answer.told


def _lock_in_the_way(context: Context, record: Record, holder: Holder) -> tuple[StateLock | None, str]:
    """The lock on the module's state, or why it can't be looked at."""
    module = context.tools.stack.modules.get(record.module)
    if module is None:
        return None, f"{record.module} is not in the manifest: {holder.command} {holder.operation} can't be judged"
    engine = context.tools.engines.at(module)
    take_identity(context, module, engine)
    try:
        lock = engine.state_lock()
    except OutcomeUnknown as error:
        return None, error.message
    return (lock if isinstance(lock, StateLock) and lock.holds else None), ""


def _why_not_released(context: Context, job: CiJob, answer: CiAnswer) -> str:
    """What speaks against releasing a state lock on the word of a CI system; "" for nothing."""
    if not job.thrown_away:
        return "its state is locked, and its machine may have gone on after the job"
    age = seconds_between(answer.at, stamp(context.tools.clock.now())) if answer.at else 0.0
    if age < THROWN_AWAY_SECONDS:
        return f"its state is locked, and its machine may be there for up to {in_words(THROWN_AWAY_SECONDS)} longer"
    return ""


def _why_not_its_own(context: Context, record: Record, holder: Holder, lock: StateLock) -> str:
    chain = (holder, *holder.took_over)
    operations = {held.operation for held in chain}
    beats = [beat for beat in context.tools.ledger.beats(record.module) if beat.operation in operations]
    if any(beat.state_lock == lock.id for beat in beats):
        return ""
    if any(was_taken_by(lock, held.writer.host, held.since) for held in chain):
        return ""
    return f"its state is locked, and it is not proven by whom: {lock}"
