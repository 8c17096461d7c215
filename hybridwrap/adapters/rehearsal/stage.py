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
from hybridwrap.adapters.operation_locks import locked
from hybridwrap.adapters.rehearsal.writing import KILL, WAITS, failure_file
from hybridwrap.domain.json import loads
from hybridwrap.domain.rehearsal import Failure, Seen, Typed

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

    def run_killed(self, words: Sequence[str], kills: Sequence[Failure]) -> Typed:
        """Run one, and kill it with its engines: as soon as one of the modules is in the middle of its work.

        Engines of others go on, as they would; until they have ended, those are killed, too, that were to be.
        """
        for kill in kills:
            failure_file(self.folder, kill).write_text(KILL)
        child = self._start(words)
        try:
            while child.poll() is None and not any(map(self._waits, kills)):
                time.sleep(LOOK_SECONDS)
            if child.poll() is None:
                child.kill()
                child.wait()
            killed = self._killed(kills)
        finally:
            _end(child)
            for kill in kills:
                failure_file(self.folder, kill).unlink()
        return Typed(child.returncode, killed)

    def _killed(self, kills: Sequence[Failure]) -> tuple[Failure, ...]:
        """Kill engines in the middle of their work until none is at work: what is shown next is what is found then."""
        killed: list[Failure] = []
        while True:
            for kill in kills:
                if process := self._waits(kill):
                    _kill_session(process)
                    _waits_file(self.folder, kill).unlink()
                    killed.append(kill)
            if not any(map(_is_locked, self._event_files())):
                return tuple(killed)
            time.sleep(LOOK_SECONDS)

    def _waits(self, kill: Failure) -> int:
        """The process that waits in the middle of a module's work to be killed, 0 as long as there is none."""
        file = _waits_file(self.folder, kill)
        return int(file.read_text()) if file.exists() else 0

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


def _waits_file(folder: Path, kill: Failure) -> Path:
    file = failure_file(folder, kill)
    return file.with_name(file.name + WAITS)


def _kill_session(process: int) -> None:
    """Kill the engine that a process works for, with all that it has started: it leads a session of its own."""
    with suppress(ProcessLookupError):
        engine = os.getsid(process)
        if engine != os.getsid(0):
            os.killpg(engine, signal.SIGKILL)


def _is_locked(events: Path) -> bool:
    """Whether an engine is at work on a file of events."""
    with events.open("rb") as file:
        return not locked(file.fileno(), fcntl.LOCK_SH)


def _began(events: Path) -> str:
    """When the engine wrote its first event, "" for none that can be read."""
    with events.open("rb") as lines:
        first = lines.readline()
    try:
        return str(loads(first)["@timestamp"])
    except (ValueError, KeyError, TypeError):
        return ""
