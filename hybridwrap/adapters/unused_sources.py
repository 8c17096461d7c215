"""Fetched sources that nobody uses any more: each use leaves a mark, and what has had none for long is removed.

Keeps: a mark is left and a folder is removed under locks of one file, so that nobody loses what he has just found.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

UNUSED_SECONDS = 30 * 86_400.0  # longer than any run
_LOCK = ".lock"
_GONE = ".old-"


@contextmanager
def using(place: Path) -> Iterator[None]:
    """Keep others from removing anything of one source; where nothing can be written, nobody removes anything."""
    with ExitStack() as held:
        with suppress(OSError):
            held.enter_context(_locked(place, fcntl.LOCK_SH))
        yield


def mark_used(folder: Path) -> None:
    """Leave the mark of a use now; within `using`."""
    with suppress(OSError):
        os.utime(folder)


def sweep_unused(home: Path, now: float, keep: Collection[Path]) -> tuple[Path, ...]:
    """Remove what was fetched into a home and has not been used for 30 days, unless one of `keep` lies in it."""
    return tuple(folder for place in _folders(home / "remote") for folder in _swept(place, now, keep))


def _swept(place: Path, now: float, keep: Collection[Path]) -> Iterator[Path]:
    if not any(_is_old(folder, now) for folder in _folders(place)):
        return
    try:
        with _locked(place, fcntl.LOCK_EX | fcntl.LOCK_NB):
            old = [folder for folder in _folders(place) if _is_old(folder, now)]  # again: by now nobody can mark one
            unused = [folder for folder in old if not any(path.is_relative_to(folder) for path in keep)]
            moved = {folder: folder.rename(place / f"{_GONE}{folder.name}") for folder in unused}
    except OSError:  # somebody is just looking for one, or nothing can be written there
        return
    for folder, gone in moved.items():
        shutil.rmtree(gone, ignore_errors=True)
        yield folder


def _folders(parent: Path) -> list[Path]:
    try:
        with os.scandir(parent) as found:
            return sorted(Path(item) for item in found if item.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _is_old(folder: Path, now: float) -> bool:
    try:
        return now - folder.stat().st_mtime > UNUSED_SECONDS
    except OSError:
        return False


@contextmanager
def _locked(place: Path, kind: int) -> Iterator[None]:
    file = os.open(place / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, kind)
        yield
    finally:
        os.close(file)
