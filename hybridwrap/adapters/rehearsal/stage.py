"""Runs hybridwrap in the copy, as a person would, and takes things away from it: a process, the ledger.

The rule it keeps: a signal goes only to what was started here. Engines are found by a process that waits in a session
of theirs, and says so in a file of this copy.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from hybridwrap.adapters.home import NAME
from hybridwrap.adapters.operation_folder import EVENTS
from hybridwrap.adapters.rehearsal.writing import WAITS, failure_file
from hybridwrap.domain.json import loads
from hybridwrap.domain.rehearsal import Failure, Seen

LOOK_SECONDS = 0.05
# What a command needs of the caller's environment: no credential is among it.
_PASSED = frozenset(
    (
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "TERM",
        "NO_COLOR",
        "COLUMNS",
        "VIRTUAL_ENV",
    )
)
_PASSED_KINDS = ("LC_", "PYTHON", "LD_", "DYLD_", "ASDF_", "MISE_", "TENV_", "TFENV_", "TOFUENV_")
_OWN = {"TF_CLI_CONFIG_FILE": os.devnull, "CHECKPOINT_DISABLE": "1", "HYBRIDWRAP_SETTLE": "0s"}


def bare_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of the drill's commands."""
    passed = {name: value for name, value in environ.items() if name in _PASSED or name.startswith(_PASSED_KINDS)}
    return {**passed, **_OWN}


class CopyStage(Struct, frozen=True):
    folder: Path
    environ: Mapping[str, str]
    stdout: int  # where what the commands print goes

    @property
    def home(self) -> Path:
        return self.folder / NAME

    @property
    def ledger(self) -> Path:
        return self.home / "ledger"

    def run(self, words: Sequence[str]) -> int:
        """Run a command of ours to its end, and return its exit code."""
        return _ended(self._start(words))

    def run_killed(self, words: Sequence[str], failure: Failure) -> int | None:
        """Run one, and kill it and the engine as soon as that is in the middle of its work; None: it was killed."""
        file = failure_file(self.folder, failure)
        waits = file.with_name(file.name + WAITS)
        child = self._start(words)
        try:
            while child.poll() is None and not waits.exists():
                time.sleep(LOOK_SECONDS)
            if not waits.exists():
                return _ended(child)
            engine = os.getsid(int(waits.read_text()))
            child.kill()
            child.wait()
            _kill_session(engine)
        finally:
            _end(child)
        for each in (file, waits):
            each.unlink()
        self._wait_for_death()
        return None

    def _wait_for_death(self) -> None:
        """Wait until no engine of a killed command is at work: what is shown next is what a person would find."""
        for file in self._event_files():
            with file.open("rb") as events:
                fcntl.flock(events, fcntl.LOCK_SH)

    def _start(self, words: Sequence[str]) -> subprocess.Popen[bytes]:
        sys.stdout.flush()
        return subprocess.Popen(
            [sys.executable, "-m", "hybridwrap", *words],
            cwd=self.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=self.stdout,
            stderr=self.stdout,
        )

    def is_armed(self, failure: Failure) -> bool:
        return failure_file(self.folder, failure).exists()

    def repair(self, failure: Failure) -> None:
        failure_file(self.folder, failure).unlink(missing_ok=True)

    @contextmanager
    def without_ledger(self) -> Iterator[None]:
        """Have a file lie where the ledger should be: nothing can be read there, and nothing be written."""
        away = self.ledger.with_name("ledger.away")
        self.ledger.rename(away)
        self.ledger.touch()
        try:
            yield
        finally:
            self.ledger.unlink()
            away.rename(self.ledger)

    def look(self) -> Seen:
        engines = {file.parent.name: began for file in self._event_files() if (began := _began(file))}
        digest = sha256()
        for file in sorted((self.home / "state").rglob("*.tfstate")):
            digest.update(f"{file.relative_to(self.home)}\0".encode() + file.read_bytes())
        return Seen(engines, digest.hexdigest())

    def _event_files(self) -> list[Path]:
        return sorted((self.home / "operations").glob(f"*/{EVENTS}"))

    def stored(self, key: str) -> float:
        """When an object of the ledger was there for good, in seconds since 1970; 0 for none."""
        try:
            return (self.ledger / key).stat().st_ctime
        except OSError:
            return 0.0


def _ended(child: subprocess.Popen[bytes]) -> int:
    try:
        return child.wait()
    finally:
        _end(child)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Wait for a command that was interrupted together with us: it ends its engines, and records that."""
    if child.poll() is None:
        with suppress(KeyboardInterrupt):
            child.wait()


def _kill_session(engine: int) -> None:
    """Kill an engine with all that it has started: it leads a session of its own."""
    if engine not in (os.getsid(0), 0):
        with suppress(ProcessLookupError):
            os.killpg(engine, signal.SIGKILL)


def _began(events: Path) -> str:
    """When the engine wrote its first event, "" for none that can be read."""
    with events.open("rb") as lines:
        first = lines.readline()
    try:
        return str(loads(first)["@timestamp"])
    except (ValueError, KeyError, TypeError):
        return ""
