"""Runs one engine command that prints an event stream, and passes its events on while they come."""

from __future__ import annotations

import os
from io import BufferedWriter, FileIO
from math import inf
from pathlib import Path

from hybridwrap.adapters.engine.events import EventReader
from hybridwrap.adapters.engine.process import Command, Processes, Tail
from hybridwrap.domain.engine_run import Ended, Stream
from hybridwrap.domain.ports import Listen
from hybridwrap.errors import PreflightRefused

STDERR = "stderr"


def stream(
    processes: Processes, command: Command, output: Path, stdout: FileIO, listen: Listen, *, limit: float = inf
) -> tuple[Ended, Stream]:
    """Run a command with its stdout in `output`, which is open as `stdout`; stderr goes to a file beside it.

    It is interrupted once after `limit` seconds, or when the time that all such commands have together is up.

    `stdout` is closed here as soon as the engine has it: a lock on it must end with the engine.
    """
    reader = EventReader()

    def feed(data: bytes) -> None:
        for event in reader.feed(data):
            listen(event)

    with stdout, open_private(output.with_name(STDERR), "a") as stderr, Tail(output, feed) as tail:
        process = processes.start(command, stdout=stdout.fileno(), stderr=stderr.fileno())
        stdout.close()
        processes.catch_up(process)
        ended = processes.finish(process, tail.read, limit=min(limit, processes.time_left))
    return ended, reader.stream()


def open_private(file: Path, mode: str) -> FileIO:
    """Open a file that only we can read, also one that the engine is going to write."""
    return FileIO(file, mode, opener=lambda name, flags: os.open(name, flags, 0o600))


def write_private(file: Path, data: bytes) -> None:
    """Write a file that only we can read. Raise PreflightRefused."""
    try:
        with BufferedWriter(open_private(file, "w")) as written:
            written.write(data)
    except OSError as error:
        raise PreflightRefused(
            f"{file} can't be written: {error.strerror}", hint="make room or rights there"
        ) from error


def ignore(_: object) -> None:
    """Listen to nothing."""
