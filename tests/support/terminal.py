"""A terminal for a program that wants to ask somebody."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from click import unstyle


class Terminal:
    """Runs a program in a pseudo-terminal; `expect` waits for a text, `type` answers; `seen` is without colours."""

    def __init__(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            argv, cwd=cwd, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        self.seen = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._ours)

    def expect(self, text: str, *, seconds: float = 60) -> None:
        """Read until the text is there, after what was expected before; raise TimeoutError."""
        start = len(self.seen)
        deadline = time.monotonic() + seconds
        while text not in self.seen[start:]:
            if not self._read(deadline - time.monotonic()):
                raise TimeoutError(f"no {text!r} in:\n{self.seen}")

    def type(self, text: str) -> None:
        os.write(self._ours, f"{text}\n".encode())

    def wait(self, *, seconds: float = 60) -> int:
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
        self.seen = unstyle(self.seen + chunk.decode(errors="replace").replace("\r\n", "\n"))
        return bool(chunk)
