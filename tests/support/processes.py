"""Ends what a test has started and left behind, engines and their plugins included, and nothing else.

Whatever a test starts, and whatever that starts, in whatever session, inherits a word in its environment that no other
test has. It is found by that word where the system shows environments (Linux).
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from secrets import token_hex

import pytest

VARIABLE = "STARTED_BY_A_TEST"
PATIENCE_SECONDS = 20
_PROCESSES = Path("/proc")
_numbers = count()


@pytest.fixture(scope="session", autouse=True)
def session_word() -> Iterator[str]:
    """The word of what all tests of a session share; at the session's end nothing that carries it may be left."""
    word = token_hex(8)
    with carried(word):
        yield word
    _wait_for_end(word)
    left = end_all(word)
    assert not left, f"left by the session: {', '.join(left)}"


@pytest.fixture(autouse=True)
def test_word(session_word: str) -> Iterator[str]:
    """The word of one test; what carries it is ended with the test."""
    word = f"{session_word}.{next(_numbers)}."
    with carried(word):
        yield word
    end_all(word)


@contextmanager
def carried(word: str) -> Iterator[None]:
    """What is started in this block carries the word."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, word)
        yield


def end_all(word: str) -> list[str]:
    """SIGKILL every process whose word begins so, wait until none is left, and return their command lines."""
    ended: dict[int, str] = {}
    overdue = time.monotonic() + PATIENCE_SECONDS
    while left := dict(_carrying(word.encode())):
        if time.monotonic() > overdue:
            raise TimeoutError(f"{left} do not end")
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        ended |= left
        time.sleep(0.01)
    return list(ended.values())


def _wait_for_end(word: str) -> None:
    """Give what its fixture has told to end the time to do so."""
    overdue = time.monotonic() + PATIENCE_SECONDS
    while any(_carrying(word.encode())) and time.monotonic() < overdue:
        time.sleep(0.05)


def _carrying(word: bytes) -> Iterator[tuple[int, str]]:
    for process in _PROCESSES.iterdir() if _PROCESSES.is_dir() else ():
        with suppress(NotADirectoryError, FileNotFoundError, PermissionError, ProcessLookupError):  # not ours, or gone
            if process.name.isdecimal() and b"%s=%s" % (VARIABLE.encode(), word) in (process / "environ").read_bytes():
                yield int(process.name), (process / "cmdline").read_text(errors="replace").replace("\0", " ").strip()
