"""All operations' folders in one home: made for new operations, found again when their processes are gone."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from hybridwrap.adapters.home import make_home
from hybridwrap.adapters.operation_folder import (
    CLAIM,
    EVENTS,
    HOOKS_LOG,
    RESULT,
    RUNNER_LOCK,
    SECRETS,
    Folder,
    content,
    drop_secrets,
    refusing,
)
from hybridwrap.adapters.operation_locks import liveness, locked, open_locked, taken
from hybridwrap.domain.entry import Locks
from hybridwrap.domain.left_behind import Liveness, Unfinished
from hybridwrap.errors import PreflightRefused


class Folders:
    def __init__(self, home: Path, stack: str) -> None:
        self._home = home.absolute()  # a ledger names folders for readers who are somewhere else
        self._stack = stack
        self._made = False

    @property
    def _operations(self) -> Path:
        return self._home / "operations"

    def make(self, operation: str) -> Folder:
        """Make an operation's folder and take its runner's lock. Raise PreflightRefused.

        It gets its name when its lock is held: no folder can be seen that looks dead and is only young.
        """
        if not self._made:
            make_home(self._home, self._stack)
            self._made = True
        path, unnamed = self._operations / operation, self._operations / f".{operation}"
        with refusing(path):
            self._operations.mkdir(mode=0o700, exist_ok=True)
            unnamed.mkdir(mode=0o700)
            runner = open_locked(unnamed / RUNNER_LOCK)
            unnamed.rename(path)
        return Folder(path, runner)

    def unfinished(self) -> tuple[Unfinished, ...]:
        claimed = ((Path(path), names) for path, names in self._contents() if CLAIM in names)
        claims = ((path, content(path / CLAIM), RESULT in names) for path, names in claimed)
        return tuple(Unfinished(path, claim, done) for path, claim, done in claims if claim is not None)

    def look(self, locks: Locks) -> Liveness:
        return liveness(locks)

    def take(self, locks: Locks) -> Folder | Liveness:
        found = taken(locks)
        if isinstance(found, Liveness):
            return found
        engine, runner = found
        return Folder(Path(locks.engine.path).parent, runner, engine)

    def open(self, path: Path) -> Folder | None:
        with ExitStack() as opened:
            files = []
            for name in (RUNNER_LOCK, EVENTS):
                try:
                    files.append(os.open(path / name, os.O_RDWR | os.O_CLOEXEC))
                except FileNotFoundError:
                    return None
                opened.callback(os.close, files[-1])
                if not locked(files[-1], fcntl.LOCK_EX):
                    return None
            opened.pop_all()
        return Folder(path, files[0], files[1])

    def write_note(self, name: str, text: str) -> Path:
        make_home(self._home, self._stack)
        file = self._home / "notes" / name
        try:
            file.parent.mkdir(mode=0o700, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        except OSError as error:
            raise PreflightRefused(
                f"{file} can't be written: {error.strerror}", hint="make room or rights there"
            ) from error
        return file

    def sweep(self) -> tuple[str, ...]:
        left = (Path(path) for path, names in self._contents() if _is_left_over(names))
        return tuple(path.name for path in left if _removed(path))

    def _contents(self) -> Iterator[tuple[str, frozenset[str]]]:
        """The folders, oldest first, with the names of their files.

        One look at each, and plain strings: this runs at every start, and there may be thousands.
        """
        operations = str(self._operations)
        for name in sorted(_names(operations)):
            if name[0] != ".":
                yield f"{operations}/{name}", frozenset(_names(f"{operations}/{name}"))


def _names(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return [item.name for item in found]
    except (FileNotFoundError, NotADirectoryError):  # not made yet, removed meanwhile, or no operation's at all
        return []
    except OSError as error:
        raise PreflightRefused(
            f"{folder} can't be read: {error.strerror}",
            hint="give yourself the right to read it, or another HYBRIDWRAP_HOME",
        ) from error


def _is_left_over(names: frozenset[str]) -> bool:
    """Whether nothing is to be finished, and yet there are secrets, or nothing but the traces of a plan."""
    told = not names.isdisjoint((EVENTS, HOOKS_LOG))
    return bool(names) and CLAIM not in names and (not names.isdisjoint(SECRETS) or not told)


def _is_worth_keeping(path: Path) -> bool:
    """Whether something was done, a hook was called, or a state is kept here that is nowhere else."""
    if (path / HOOKS_LOG).exists():
        return True
    try:
        return (path / EVENTS).stat().st_size > 0 or any(path.glob("*.tfstate"))
    except FileNotFoundError:
        return False


def _removed(path: Path) -> bool:
    """Remove what a dead operation left; a living one keeps it."""
    with ExitStack() as opened:
        for name in (RUNNER_LOCK, EVENTS):
            try:
                file = os.open(path / name, os.O_RDWR | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            opened.callback(os.close, file)
            if not locked(file, fcntl.LOCK_EX):
                return False
        if _is_worth_keeping(path):
            drop_secrets(path)
        else:
            shutil.rmtree(
                path, ignore_errors=True
            )  # others may be at it, too; what resists is swept by a later command
    return True
