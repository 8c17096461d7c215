"""Sends what an operation has made off the host while its engine is at work: for who comes after the host is lost.

Keeps: an object is on its way a few seconds after it was seen, nothing is sent without news, and nothing that goes
wrong here reaches the engine or the operation.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from hybridwrap.domain.beat import Beat
from hybridwrap.domain.charter import stamp
from hybridwrap.domain.engine_run import Action, Hook, Stream
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.partial import objects_after
from hybridwrap.domain.ports import EngineEvent, Listen, ModuleEngine
from hybridwrap.domain.record import Record
from hybridwrap.domain.state import Unreadable
from hybridwrap.domain.state_lock import StateLock, was_held_in
from hybridwrap.errors import LedgerUnreachable, OutcomeUnknown
from hybridwrap.run.context import Context

PAUSE_SECONDS = 4.0
PATIENCE_SECONDS = 5.0  # with what is being sent when the end was recorded
AT_WORK = Unreadable("its engine is at work")


class Heart:
    """Of one operation; it begins to beat with the first object that its engine touches."""

    def __init__(
        self, context: Context, engine: ModuleEngine, held: Record, *, pause_seconds: float = PAUSE_SECONDS
    ) -> None:
        self._context = context
        self._engine = engine
        self._held = held
        self._pause_seconds = pause_seconds
        self._hooks: list[Hook] = []
        self._over = Event()
        self._sent: tuple[CloudObject, ...] = ()
        self._lock = ""
        # never waited for before the end: a store that does not answer must not keep the operation from it
        self._thread = Thread(target=self._beat, name=f"heart of {held.module}", daemon=True)

    def listening(self, listen: Listen) -> Listen:
        """Pass events on, and hear them, too."""

        def heard(event: EngineEvent) -> None:
            listen(event)
            if isinstance(event, Hook) and event.phase != "progress" and event.action is not Action.READ:
                self._hooks.append(event)
                if len(self._hooks) == 1:
                    self._thread.start()

        return heard

    def stop(self) -> None:
        self._over.set()

    def forget(self) -> None:
        """Remove what was sent: the end is in the ledger. What is being sent would come after that, and stay."""
        if self._thread.is_alive():
            self._thread.join(PATIENCE_SECONDS)
        if self._sent:
            self._context.tools.ledger.forget_beat(self._held.module, self._held.operation)

    def _beat(self) -> None:
        while not self._over.wait(self._pause_seconds):
            stream = Stream(hooks=tuple(self._hooks))
            objects = objects_after((), stream, AT_WORK)
            if objects != self._sent:
                self._lock = self._lock or self._own_lock(stream)
                self._send(objects)

    def _send(self, objects: tuple[CloudObject, ...]) -> None:
        now = stamp(self._context.tools.clock.now())
        beat = Beat(self._held.module, self._held.operation, now, objects, self._lock)
        try:
            self._context.tools.ledger.beat(beat)
        except LedgerUnreachable:
            return  # tried again at the next turn
        self._sent = objects

    def _own_lock(self, stream: Stream) -> str:
        try:
            lock = self._engine.state_lock()
        except OutcomeUnknown:
            return ""
        return lock.id if isinstance(lock, StateLock) and was_held_in(stream, lock) else ""


@contextmanager
def heartbeat(context: Context, engine: ModuleEngine, held: Record) -> Iterator[Heart]:
    """Beat until the block is over, which is when the end was recorded or could not be."""
    heart = Heart(context, engine, held)
    try:
        yield heart
    finally:
        heart.stop()
    heart.forget()
