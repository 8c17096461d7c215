"""Wait until a module is free: for an engine whose hybridwrap is gone, and, if asked to, for those that are alive."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TypeVar

from hybridwrap.domain.left_behind import Liveness
from hybridwrap.domain.record import Record, sound
from hybridwrap.errors import StateLocked
from hybridwrap.run.busy import busy, holder_in_words
from hybridwrap.run.context import Context, Patience

T = TypeVar("T")


def wait_for_turn(context: Context, name: str) -> Record:
    """Return the module's record once nobody holds it; what a dead operation left is finished on the way.

    Raise ModuleBusy when it may not be waited for, or not any longer; Stopped when the run is to stop; LedgerDamaged
    when its log can't be read.
    """
    record = sound(context.knowledge.record(name))
    if not record.holder:
        return record
    from hybridwrap.run.ci_word import CiWord
    from hybridwrap.run.finish import finish

    waiting = context.waiting(name)
    ci = CiWord(context)
    while (record := context.knowledge.record(name)).holder:
        found = finish(context, record)
        if found is Liveness.DEAD or (found is Liveness.NOT_VISIBLE and ci.ends(record)):
            continue
        if waiting.seconds >= _seconds(context.options.patience, found):
            raise busy(context, record, found, ci.told)
        waiting.a_while(f"its turn: {holder_in_words(record, found, ci.told)}")
        context.knowledge.learn(context.tools.ledger.record(name))
    return record


def when_unlocked(context: Context, name: str, work: Callable[[], T]) -> T:
    """Do work that needs the engine's state lock; again, from the record on, for as long as it may be waited for.

    Raise StateLocked after that; Stopped when the run is to stop.
    """
    waiting = context.waiting(name)
    while True:
        try:
            return work()
        except StateLocked as error:
            if waiting.seconds >= context.options.patience.seconds:
                raise
            waiting.a_while(f"its state lock: {error.message}")
            context.knowledge.learn(context.tools.ledger.record(name))


def _seconds(patience: Patience, found: Liveness) -> float:
    """How long a holder is waited for that was found so."""
    if found is Liveness.ENGINE:
        return inf if patience.for_engine else 0.0
    return patience.seconds
