"""Waits for the end of a child process, looking up every now and then."""

from __future__ import annotations

import os
import select
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Thread

Child = subprocess.Popen[bytes]
HasEnded = Callable[[float], bool]


def end_of(child: Child) -> AbstractContextManager[HasEnded]:
    """Give a question that waits for a child's end, so many seconds at most, and says whether it has come.

    The child has ended, and is reaped, after the block, whatever happens in it.
    """
    try:
        handle = os.pidfd_open(child.pid)
    except (AttributeError, OSError):  # no Linux, or one that doesn't let us
        return asked_by_thread(child)
    return asked_by_handle(child, handle)


@contextmanager
def asked_by_handle(child: Child, handle: int) -> Iterator[HasEnded]:
    """By a file of the kernel's that can be read once the child has ended: costs half of what a thread does."""
    ready = select.poll()
    ready.register(handle, select.POLLIN)

    def has_ended(seconds: float) -> bool:
        if ready.poll(seconds * 1000):
            child.wait()
        return child.returncode is not None  # also when who interrupts it has reaped it first

    try:
        yield has_ended
    finally:
        os.close(handle)
        child.wait()


@contextmanager
def asked_by_thread(child: Child) -> Iterator[HasEnded]:
    waiter = Thread(target=child.wait, name=f"engine {child.pid}", daemon=True)
    waiter.start()

    def has_ended(seconds: float) -> bool:
        waiter.join(seconds)
        return not waiter.is_alive()

    try:
        yield has_ended
    finally:
        waiter.join()
