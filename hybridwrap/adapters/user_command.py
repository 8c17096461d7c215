"""Runs a program that the manifest names: no shell, a session of its own, a time limit, an end when the run is stopped.

It gets no terminal. What it started goes with it when it has to be ended.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from hybridwrap.domain.duration import in_words
from hybridwrap.domain.ports import Clock

LOOK_SECONDS = 0.1
GRACE_SECONDS = 3.0  # from SIGTERM to SIGKILL
PIPE = subprocess.PIPE


class Finished(Struct, frozen=True):
    """How it ended; `trouble` says what kept it from an end of its own, "" for nothing."""

    exit_code: int | None = None
    seconds: float = 0.0
    trouble: str = ""
    stdout: bytes = b""
    stderr: bytes = b""

    def __str__(self) -> str:
        return self.trouble or f"exit code {self.exit_code}"


class Call(Struct, frozen=True):
    """What to run, and for how long at most; `stopped` says that it has to end now."""

    argv: Sequence[str]
    folder: Path
    env: Mapping[str, str]
    seconds: float
    stopped: Callable[[], bool] = lambda: False
    stdout: int = PIPE  # a file's number; PIPE: kept in memory
    stderr: int = PIPE


def run_user_command(call: Call, clock: Clock) -> Finished:
    """Run a program to its end. Never raises: what can't be started says so."""
    began = clock.monotonic()
    try:
        child = subprocess.Popen(
            call.argv,
            cwd=call.folder,
            env=call.env,
            stdin=subprocess.DEVNULL,
            stdout=call.stdout,
            stderr=call.stderr,
            start_new_session=True,
        )
    except OSError as error:
        return Finished(trouble=f"could not be started: {error.strerror}")
    with child:
        return _finished(child, call, clock, began)


def why_not(argv: Sequence[str], folder: Path, env: Mapping[str, str]) -> str:
    """Say why a program can't be started here, "" when it is there."""
    program = argv[0]
    found = shutil.which(folder / program) if os.sep in program else shutil.which(program, path=env.get("PATH"))
    return "" if found else f"{program} is not there, or can't be run"


def _finished(child: subprocess.Popen[bytes], call: Call, clock: Clock, began: float) -> Finished:
    while True:
        try:
            stdout, stderr = child.communicate(timeout=LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            if trouble := _why_end(call, clock.monotonic() - began):
                _end(child, clock)
                return Finished(None, clock.monotonic() - began, trouble)
        else:
            code, seconds = child.returncode, clock.monotonic() - began
            trouble = f"was killed by {signal.Signals(-code).name}" if code < 0 else ""
            return Finished(code if code >= 0 else None, seconds, trouble, stdout or b"", stderr or b"")


def _why_end(call: Call, seconds: float) -> str:
    if call.stopped():
        return "was ended, as the run was stopped"
    return f"did not end within {in_words(call.seconds)}" if seconds >= call.seconds else ""


def _end(child: subprocess.Popen[bytes], clock: Clock) -> None:
    """End it gracefully, then for certain, with all of its group: also what outlives its first process."""
    until = clock.monotonic() + GRACE_SECONDS
    _signal(child, signal.SIGTERM)
    _wait(child)
    while _signal(child, 0) and clock.monotonic() < until:
        clock.sleep(LOOK_SECONDS)
    _signal(child, signal.SIGKILL)
    _wait(child)


def _signal(child: subprocess.Popen[bytes], number: int) -> bool:
    """Send a signal to its group, 0 for none; say whether anybody was there."""
    try:
        os.killpg(child.pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _wait(child: subprocess.Popen[bytes]) -> None:
    with suppress(subprocess.TimeoutExpired):  # a daemon of its own session may keep the pipes open for ever
        child.communicate(timeout=GRACE_SECONDS)
