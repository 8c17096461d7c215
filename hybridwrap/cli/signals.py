"""Signals of the terminal or a CI system, while engines may be at work."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Thread
from types import FrameType


@contextmanager
def told_of_signals(tell: Callable[[str], None]) -> Iterator[None]:
    """Call `tell` with the name of each SIGINT and SIGTERM instead of dying of it; ignore SIGHUP meanwhile.

    A closed terminal sends SIGHUP: what was begun goes on to its end and is recorded. `tell` runs in a thread of its
    own: a handler that wanted a lock which the interrupted thread holds would wait for ever.
    """
    names: SimpleQueue[str] = SimpleQueue()

    def on_signal(number: int, _frame: FrameType | None) -> None:
        names.put(signal.Signals(number).name)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}

    def tell_all() -> None:
        for name in iter(names.get, ""):
            tell(name)

    teller = Thread(target=tell_all, name="signals")
    teller.start()
    signal.signal(signal.SIGINT, on_signal)
    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        names.put("")
        teller.join()
