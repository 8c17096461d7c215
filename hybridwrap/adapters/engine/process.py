"""Engine processes: each in its own session, with files for stdout and stderr.

The rule it keeps: an engine outlives hybridwrap unharmed. So it never writes into a pipe that only we read, gets no
signal of our terminal, and of us one SIGINT, to its pid alone; a second one can cost its state, and is only sent where
it was asked for.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from math import inf
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self

from msgspec import Struct

from hybridwrap.adapters.engine.ending import end_of
from hybridwrap.domain.engine_run import Ended
from hybridwrap.domain.ports import Clock
from hybridwrap.errors import EngineNotUsable

POLL_SECONDS = 0.1
_CHUNK = 1 << 18


class Command(Struct, frozen=True):
    argv: tuple[str, ...]
    folder: Path
    env: Mapping[str, str]


class Process:
    """One engine process that was started."""

    def __init__(self, command: Command, child: subprocess.Popen[bytes], clock: Clock) -> None:
        self._command = command
        self._child = child
        self._clock = clock
        self._began = clock.monotonic()
        self._interrupts = 0
        self._overdue = False
        self._lock = Lock()  # a signal and a deadline may come at the same time, and want one interrupt together

    @property
    def pid(self) -> int:
        return self._child.pid

    def interrupt(self, *, again: bool = False) -> bool:
        """Send one SIGINT to the process, not to its group, if it lives and has had none; say whether it was sent."""
        with self._lock:
            if self._child.poll() is not None or (self._interrupts and not again):
                return False
            self._child.send_signal(signal.SIGINT)
            self._interrupts += 1
            return True

    def end_by(self, moment: float) -> None:
        """Interrupt the process, once, when the moment has passed."""
        if self._clock.monotonic() >= moment and self.interrupt():
            self._overdue = True

    def wait(self, meanwhile: Callable[[], None]) -> Ended:
        """Wait for the end; call `meanwhile` every now and then, and once more when all output was written."""
        with end_of(self._child) as has_ended:
            over = False
            while not over:
                over = has_ended(POLL_SECONDS)
                meanwhile()
        return self._ended()

    def _ended(self) -> Ended:
        code = self._child.returncode
        return Ended(
            exit_code=code if code >= 0 else None,
            signal=-code if code < 0 else None,
            interrupts=self._interrupts,
            overdue=self._overdue,
            argv=self._command.argv,
            seconds=self._clock.monotonic() - self._began,
        )


class Processes:
    """The engine processes of this hybridwrap."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._living: set[Process] = set()
        self._lock = Lock()
        self._interrupted = False
        self.deadline = inf  # the moment by which work must come to an end

    def start(
        self, command: Command, *, stdin: int | None = subprocess.DEVNULL, stdout: int | None, stderr: int | None
    ) -> Process:
        """Start a process; None hands on our own file. Raise EngineNotUsable when that is not possible."""
        try:
            child = subprocess.Popen(
                command.argv,
                cwd=command.folder,
                env=command.env,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        except OSError as error:
            raise EngineNotUsable(
                f"{command.argv[0]} could not be started in {command.folder}: {error.strerror}",
                hint="see that it is a program for this machine, which may be executed",
            ) from error
        process = Process(command, child, self._clock)
        with self._lock:
            self._living.add(process)
        return process

    @property
    def time_left(self) -> float:
        return self.deadline - self._clock.monotonic()

    def finish(self, process: Process, meanwhile: Callable[[], None] = lambda: None, *, limit: float = inf) -> Ended:
        """Wait for the end of a process that was just started here; after `limit` seconds it is interrupted once."""
        deadline = self._clock.monotonic() + limit

        def look() -> None:
            process.end_by(deadline)
            meanwhile()

        try:
            return process.wait(look)
        finally:
            with self._lock:
                self._living.discard(process)

    def capture(self, command: Command) -> tuple[Ended, bytes, bytes]:
        """Run a command that changes nothing; return its stdout and stderr, which have no name on the disk."""
        with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            ended = self.finish(self.start(command, stdout=stdout.fileno(), stderr=stderr.fileno()))
            return ended, _whole(stdout.fileno()), _whole(stderr.fileno())

    def interrupt(self, *, again: bool = False) -> int:
        """Send one SIGINT to each living process that has had none, or `again` to all; say to how many."""
        with self._lock:
            self._interrupted = True
            return sum(process.interrupt(again=again) for process in self._living)

    def catch_up(self, process: Process) -> None:
        """Let an interrupt reach a process that came while it was being started."""
        with self._lock:
            if self._interrupted:
                process.interrupt()


class Tail:
    """Passes on what is appended to a file."""

    def __init__(self, file: Path, feed: Callable[[bytes], None]) -> None:
        self._file = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        self._feed = feed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def read(self) -> None:
        while data := os.read(self._file, _CHUNK):
            self._feed(data)


def _whole(file: int) -> bytes:
    os.lseek(file, 0, os.SEEK_SET)
    with os.fdopen(os.dup(file), "rb") as reader:
        return reader.read()
