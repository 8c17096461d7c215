"""What leaves the host while an engine is at work is gone once the end is recorded."""

from __future__ import annotations

from threading import Event, Thread

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.engine_run import Action, Hook
from hybridwrap.run.heartbeat import Heart
from tests.support.imaginary import Machine, World, begin_command
from tests.support.ledgers import begin

STARTED = Hook("x_server.it", Action.CREATE, "start", "x")


class Slow(MemoryStore):
    """A store that takes its time with a beat."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.go, self.done = Event(), Event(), Event()

    def replace(self, key: str, data: bytes, *, over: str | None = None) -> str | None:
        if "/beat/" not in key:
            return super().replace(key, data, over=over)
        self.asked.set()
        assert self.go.wait(120)
        found = super().replace(key, data, over=over)
        self.done.set()
        return found


def test_a_beat_that_is_on_its_way_when_the_end_is_recorded_does_not_stay() -> None:
    store = Slow()
    context = begin_command(store, World(), Machine(), "01 apply", step=lambda: None)
    ledger, module = context.tools.ledger, context.tools.stack.modules["vm"]
    held = ledger.begin(ledger.record("vm"), begin(), operation="01OP")
    heart = Heart(context, context.tools.engines.at(module), held, pause_seconds=0.01)
    heart.listening(lambda _: None)(STARTED)
    assert store.asked.wait(120)

    heart.stop()
    ending = Thread(target=heart.forget)
    ending.start()
    ending.join(0.2)  # who does not wait for what is on its way is done by now
    store.go.set()
    assert store.done.wait(120)
    ending.join(120)

    assert ledger.beats("vm") == ()
