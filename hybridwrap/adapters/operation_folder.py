"""The files of one operation on this host, and the locks that prove that its processes live.

The rule it keeps: whoever works on an operation holds `flock` on one of its two lock files. hybridwrap holds
`runner.lock` from the making of the folder to its end; the event file is locked before `begin` and then handed to the
engine as its stdout, so that this lock lives exactly as long as the engine does, whatever happens to hybridwrap.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryFile

from hybridwrap.adapters.home import make_home
from hybridwrap.domain.entry import LockFile, Locks
from hybridwrap.errors import PreflightRefused

EVENTS = "events.jsonl"
RUNNER_LOCK = "runner.lock"
PLAN = "plan"
VARIABLES = "vars.tfvars.json"
RESULT = "result.json"
_LOGS = (EVENTS, "plan.jsonl", "init.jsonl", "stderr")
_SECRETS = (PLAN, VARIABLES)


class Liveness(StrEnum):
    """What the locks of an operation say about its processes."""

    RUNNER = "hybridwrap is at work"
    ENGINE = "the engine is at work, its hybridwrap is gone"
    DEAD = "engine and hybridwrap are gone"
    NOT_VISIBLE = "its lock files can't be seen from here"


# (the engine's lock could be taken, the runner's lock could be taken)
_MEANING: Mapping[tuple[bool | None, bool | None], Liveness] = {
    (True, True): Liveness.DEAD,
    (True, False): Liveness.RUNNER,
    (False, False): Liveness.RUNNER,
    (False, True): Liveness.ENGINE,
}


class Folder:
    """One operation's own files: folder 0700, files 0600."""

    def __init__(self, path: Path, runner: int) -> None:
        self._path = path
        self._runner: int | None = runner
        self._events: int | None = None

    @property
    def operation(self) -> str:
        return self._path.name

    @property
    def path(self) -> Path:
        return self._path

    @property
    def events(self) -> Path:
        return self._path / EVENTS

    def lock(self) -> Locks:
        if self._runner is None:
            raise ValueError(f"{self._path} was released")
        if self._events is None:
            self._events = _open_locked(self.events)
        return Locks(_lock_file(self.events, self._events), _lock_file(self._path / RUNNER_LOCK, self._runner))

    def hand_over(self) -> int | None:
        handed, self._events = self._events, None
        return handed

    def keep_result(self, data: bytes) -> None:
        written = self._path / f"{RESULT}.new"
        with os.fdopen(os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        written.replace(self._path / RESULT)
        with _opened(self._path, os.O_RDONLY | os.O_DIRECTORY) as folder:
            os.fsync(folder)

    def drop_result(self) -> None:
        (self._path / RESULT).unlink(missing_ok=True)

    def drop_secrets(self) -> None:
        _drop_secrets(self._path)

    def rewrite_logs(self, mask: Callable[[str], str]) -> None:
        for name in _LOGS:
            _rewrite(self._path / name, mask)

    def release(self) -> None:
        for held in (self._events, self._runner):
            if held is not None:
                os.close(held)
        self._events = self._runner = None

    def remove(self) -> None:
        self.release()
        shutil.rmtree(self._path)


class Folders:
    """All operations' folders in one home."""

    def __init__(self, home: Path, stack: str) -> None:
        self._home = home
        self._stack = stack
        self._made = False

    def make(self, operation: str) -> Folder:
        """Make an operation's folder and take its runner's lock. Raise PreflightRefused."""
        if not self._made:
            make_home(self._home, self._stack)
            self._made = True
        path = self._home / "operations" / operation
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            path.mkdir(mode=0o700)
            return Folder(path, _open_locked(path / RUNNER_LOCK))
        except OSError as error:
            raise PreflightRefused(
                f"the operation's folder {path} can't be made: {error.strerror}",
                hint="make room or rights there, or set HYBRIDWRAP_HOME to a folder that can be written",
            ) from error

    def clear_leftovers(self) -> tuple[str, ...]:
        """Remove var-files and plan files of operations whose processes are gone; say of which."""
        return tuple(path.name for path in self._with_secrets() if _clear(path))

    def _with_secrets(self) -> Iterator[Path]:
        operations = self._home / "operations"
        for path in sorted(operations.iterdir()) if operations.is_dir() else ():
            if any((path / name).exists() for name in _SECRETS):
                yield path


def liveness(locks: Locks) -> Liveness:
    """Say what the two locks prove now. Whoever then acts on it must use `holding`."""
    with holding(locks) as found:
        return found


@contextmanager
def holding(locks: Locks) -> Iterator[Liveness]:
    """Try to take both locks of an operation; DEAD means that the block holds them, so that nobody else can.

    Nothing is held for any other answer. A file counts as seen when device and inode are the recorded ones: only then
    is its lock any evidence, and one lock alone never is.
    """
    with ExitStack() as held:
        found = _MEANING.get((_try(held, locks.engine), _try(held, locks.runner)), Liveness.NOT_VISIBLE)
        if found is not Liveness.DEAD:
            held.close()
        yield found


def _try(held: ExitStack, lock: LockFile) -> bool | None:
    """Take a lock: True, refused: False, file not there or another one: None."""
    try:
        file = held.enter_context(_opened(Path(lock.path), os.O_RDWR))
        seen = os.fstat(file)
        if (seen.st_dev, seen.st_ino) != (lock.device, lock.inode):
            return None
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _clear(path: Path) -> bool:
    """Remove the secrets of an operation if both its locks are free; without an event file there was no engine."""
    with ExitStack() as held:
        for name in (RUNNER_LOCK, EVENTS):
            try:
                file = held.enter_context(_opened(path / name, os.O_RDWR))
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except FileNotFoundError:
                continue
            except BlockingIOError:
                return False
        _drop_secrets(path)
        return True


def _rewrite(file: Path, mask: Callable[[str], str]) -> None:
    """Put the masked lines of a log into the same file; bytes that are no UTF-8 survive.

    The file stays the one that `begin` names by device and inode: its lock is still evidence when we are killed here.
    """
    if not file.exists():
        return
    with (
        file.open(encoding="utf-8", errors="surrogateescape", newline="") as log,
        TemporaryFile("w+", encoding="utf-8", errors="surrogateescape", newline="", dir=file.parent) as masked,
        file.open("r+", encoding="utf-8", errors="surrogateescape", newline="") as same,
    ):
        masked.writelines(map(mask, log))
        masked.seek(0)
        shutil.copyfileobj(masked, same)
        same.truncate()


def _drop_secrets(path: Path) -> None:
    for name in _SECRETS:
        (path / name).unlink(missing_ok=True)


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    file = os.open(path, flags | os.O_CLOEXEC)
    try:
        yield file
    finally:
        os.close(file)


def _open_locked(path: Path) -> int:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        raise
    return file


def _lock_file(path: Path, file: int) -> LockFile:
    seen = os.fstat(file)
    return LockFile(str(path), seen.st_dev, seen.st_ino)
