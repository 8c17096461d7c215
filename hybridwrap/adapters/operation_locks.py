"""The two locks of an operation, as its own processes and those that come after them see them.

The rule it keeps: a file counts as seen when device and inode are the recorded ones; only then is its lock any
evidence, and one lock alone never is.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from hybridwrap.domain.entry import LockFile, Locks
from hybridwrap.domain.left_behind import Liveness

# (the engine's lock could be taken, the runner's lock could be taken)
_MEANING: Mapping[tuple[bool | None, bool | None], Liveness] = {
    (True, True): Liveness.DEAD,
    (True, False): Liveness.RUNNER,
    (False, False): Liveness.RUNNER,
    (False, True): Liveness.ENGINE,
}


def liveness(locks: Locks) -> Liveness:
    """Say what the two locks prove now. Who then acts on it must have taken them."""
    with ExitStack() as opened:
        files = [_opened(lock, opened) for lock in (locks.engine, locks.runner)]
        # shared: two who look at the same time do not see each other
        free = [None if file is None else locked(file, fcntl.LOCK_SH) for file in files]
        return _MEANING.get((free[0], free[1]), Liveness.NOT_VISIBLE)


def taken(locks: Locks) -> tuple[int, int] | Liveness:
    """Take both locks of a dead operation: the open files, engine's first. Nothing is held for any other answer."""
    with ExitStack() as opened:
        files = [_opened(lock, opened) for lock in (locks.engine, locks.runner)]
        free = [None if file is None else locked(file, fcntl.LOCK_EX) for file in files]
        found = _MEANING.get((free[0], free[1]), Liveness.NOT_VISIBLE)
        engine, runner = files
        if found is not Liveness.DEAD or engine is None or runner is None:
            return found
        opened.pop_all()
        return engine, runner


def open_locked(path: Path) -> int:
    """Open a lock file, made when missing, and take its lock. Raise BlockingIOError."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    if not locked(file, fcntl.LOCK_EX):
        os.close(file)
        raise BlockingIOError(f"{path} is locked")
    return file


def locked(file: int, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def describe(path: Path, file: int) -> LockFile:
    seen = os.fstat(file)
    return LockFile(str(path), seen.st_dev, seen.st_ino)


def _opened(lock: LockFile, opened: ExitStack) -> int | None:
    """Open a lock's file; None when it is not there, or another one."""
    try:
        file = os.open(lock.path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    opened.callback(os.close, file)
    return file if describe(Path(lock.path), file) == lock else None
