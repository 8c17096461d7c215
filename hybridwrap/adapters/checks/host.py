"""The folder on this host where hybridwrap keeps its files: rights, room, locks, and what was left there."""

from __future__ import annotations

import fcntl
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile

from hybridwrap.adapters.file_system import network_kind, read_mounts
from hybridwrap.adapters.home import owner_of
from hybridwrap.adapters.operation_folders import Folders
from hybridwrap.domain.checkup import Finding, ok, problem, warning
from hybridwrap.errors import PreflightRefused

LEAST_BYTES, FEW_BYTES = 100 << 20, 1 << 30
SIGN = ".hybridwrap-doctor-"
OTHERS = stat.S_IRWXG | stat.S_IRWXO


def check_home(home: Path, stack: str) -> Iterator[Finding]:
    """Look at the home of a stack, or at the folder in which it would be made."""
    place = next(path for path in (home, *home.parents) if path.exists())
    shown = str(home) if place == home else f"{home} (not made yet)"
    if why := why_not_written(place):
        fix = f"give yourself the right to write in {place}, or set HYBRIDWRAP_HOME to a folder that can be written"
        yield problem("home", f"{shown} can't be written: {why}", fix)
        return
    yield from _owner(home, stack, shown)
    yield _rights(home, shown)
    yield _room(place)
    yield from _locks(place)


def why_not_written(place: Path) -> str:
    """Try it: what rights alone say does not hold for a superuser, or on a file system with rules of its own."""
    try:
        NamedTemporaryFile(dir=place, prefix=SIGN).close()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _owner(home: Path, stack: str, shown: str) -> Iterator[Finding]:
    other = owner_of(home)
    if stack and other and other != stack:
        fix = "give every stack a HYBRIDWRAP_HOME of its own"
        yield problem("home", f'{shown} belongs to the stack "{other}", not to "{stack}"', fix)


def _rights(home: Path, shown: str) -> Finding:
    if home.exists() and home.stat().st_mode & OTHERS:
        return warning("home", f"{shown} can be read by others: inputs and states may lie there", f"chmod 700 {home}")
    return ok("home", shown)


def _room(place: Path) -> Finding:
    free = shutil.disk_usage(place).free
    told = f"{free / (1 << 30):.1f} GiB free at {place}"
    if free < LEAST_BYTES:
        return problem("disk", told, "make room: a full disk under an apply loses the engine's events")
    return warning("disk", told, "make room") if free < FEW_BYTES else ok("disk", told)


def _locks(place: Path) -> Iterator[Finding]:
    kind = network_kind(place, read_mounts())
    if kind:
        fix = "set HYBRIDWRAP_HOME to a folder on a local disk"
        yield warning("file system", f"{place} lies on a network file system ({kind}): locks there prove little", fix)
    if _can_lock(place):
        yield ok("flock", "a second lock on a file is refused")
    else:
        fix = "set HYBRIDWRAP_HOME to a folder on a local disk: it is by locks that a living operation is known"
        yield problem("flock", f"{place}: two processes can lock one file at a time", fix)


def _can_lock(place: Path) -> bool:
    with NamedTemporaryFile(dir=place, prefix=SIGN) as first, Path(first.name).open("rb") as second:
        fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def check_left_behind(folders: Folders) -> Finding:
    """Look for operations whose end the ledger may not know."""
    try:
        left = folders.unfinished()
    except PreflightRefused as error:
        return problem("operations", error.message, error.hint, error.exit_code)
    kept = [each.operation for each in left if each.has_result]
    if kept:
        return warning(
            "operations",
            f"results that are not in the ledger yet: {', '.join(kept)}",
            "hybridwrap sync    on this host",
        )
    if left:
        names = ", ".join(each.operation for each in left)
        return warning(
            "operations", f"at work, or left by a process that died: {names}", "hybridwrap status, then sync"
        )
    return ok("operations", "none is unfinished on this host")
