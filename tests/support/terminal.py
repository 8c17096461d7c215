"""A terminal for a program that wants to ask somebody."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from codecs import getincrementaldecoder
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from click import unstyle

PATIENCE_SECONDS = 180


class Terminal:
    """Runs a program in a pseudo-terminal; `expect` waits for a text, `type` answers.

    `seen` is without colours and without the moves of the cursor, `raw` is all that was written.
    """

    def __init__(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], columns: int = 80, rows: int = 24
    ) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no thread runs here; Ctrl-C is a signal
        )
        self._decoder = getincrementaldecoder("utf-8")(errors="replace")
        os.close(theirs)
        self.seen = self.raw = ""
        self._expected = 0  # where in `seen` what was expected last has its end

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._ours)

    def expect(self, text: str, *, seconds: float = PATIENCE_SECONDS) -> None:
        """Read until the text is there, after what was expected before; raise TimeoutError.

        It may have come in one piece with that: who reads late gets much at once.
        """
        deadline = time.monotonic() + seconds
        while (found := self.seen.find(text, self._expected)) < 0:
            if not self._read(deadline - time.monotonic()):
                raise TimeoutError(f"no {text!r} in:\n{self.seen}")
        self._expected = found + len(text)

    def type(self, text: str) -> None:
        self.press(f"{text}\n")

    def press(self, keys: str) -> None:
        """Send keys as they are: `\x03` is Ctrl-C."""
        os.write(self._ours, keys.encode())

    def hang_up(self) -> None:
        """Close the terminal under the program: what it reads and writes then fails."""
        os.close(self._ours)
        self._ours = os.open(os.devnull, os.O_RDONLY)

    def ended(self, *, seconds: float = PATIENCE_SECONDS) -> int:
        """Wait for the end of a program that was hung up on; return the exit code."""
        return self._process.wait(timeout=seconds)

    def wait(self, *, seconds: float = PATIENCE_SECONDS) -> int:
        """Read to the end; return the exit code."""
        deadline = time.monotonic() + seconds
        while self._read(deadline - time.monotonic()):
            pass
        return self._process.wait(timeout=max(deadline - time.monotonic(), 1))

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._ours], [], [], max(seconds, 0))
        if not ready:
            return False
        try:
            chunk = os.read(self._ours, 65536)
        except OSError:  # how Linux says that the other side is closed
            return False
        text = self._decoder.decode(chunk)
        self.raw += text
        self.seen = unstyle(self.seen + text.replace("\r\n", "\n"))
        return bool(chunk)
