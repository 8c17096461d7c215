"""Wait until a module is free: for an engine whose hybridwrap is gone, and, if asked to, for those that are alive."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TypeVar

from hybridwrap.domain.left_behind import Liveness
from hybridwrap.domain.record import Record
from hybridwrap.domain.transitions import held_by
from hybridwrap.errors import StateLocked, Stopped
from hybridwrap.run.busy import busy
from hybridwrap.run.context import Context, Patience
from hybridwrap.run.finish import finish

T = TypeVar("T")

SAY_AGAIN_SECONDS = 30.0
LOOK_AGAIN_SECONDS = 2.0


def wait_for_turn(context: Context, name: str) -> Record:
    """Return the module's record once nobody holds it; what a dead operation left is finished on the way.

    Raise ModuleBusy when it may not be waited for, or not any longer; Stopped when the run is to stop.
    """
    clock = context.tools.clock
    began, said = clock.monotonic(), -inf
    while (record := context.knowledge.record(name)).holder:
        found = finish(context, record)
        if found is Liveness.DEAD:
            continue
        now = clock.monotonic()
        if now - began >= _seconds(context.options.patience, found):
            raise busy(context, record, found)
        if now - said >= SAY_AGAIN_SECONDS:
            context.watch.warning(name, f"waiting for its turn: {held_by(record)}; {found}")
            said = now
        if not context.stop.wait(LOOK_AGAIN_SECONDS):
            raise Stopped(context.stop.reason)
        context.knowledge.learn(context.tools.ledger.record(name))
    return record


def when_unlocked(context: Context, name: str, work: Callable[[], T]) -> T:
    """Do work that needs the engine's state lock; again, from the record on, for as long as it may be waited for.

    Raise StateLocked after that; Stopped when the run is to stop.
    """
    clock = context.tools.clock
    began, said = clock.monotonic(), -inf
    while True:
        try:
            return work()
        except StateLocked as error:
            now = clock.monotonic()
            if now - began >= context.options.patience.seconds:
                raise
            if now - said >= SAY_AGAIN_SECONDS:
                context.watch.warning(name, f"waiting for its state lock: {error.message}")
                said = now
            if not context.stop.wait(LOOK_AGAIN_SECONDS):
                raise Stopped(context.stop.reason) from error
            context.knowledge.learn(context.tools.ledger.record(name))


def _seconds(patience: Patience, found: Liveness) -> float:
    """How long a holder is waited for that was found so."""
    if found is Liveness.ENGINE:
        return inf if patience.for_engine else 0.0
    return patience.seconds
