"""Looks at the engine's lock on a module's state, and releases it, without an engine process where that is possible."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import msgspec

from hybridwrap.adapters.engine import s3_state
from hybridwrap.adapters.engine.arguments import command_line
from hybridwrap.adapters.engine.backend import local_file, object_key
from hybridwrap.adapters.engine.layout import relative
from hybridwrap.adapters.engine.process import Processes
from hybridwrap.adapters.engine.setup import Setup
from hybridwrap.domain.engine_run import LockInfo
from hybridwrap.domain.json import Json
from hybridwrap.domain.state import Unreadable
from hybridwrap.domain.state_lock import StateLock
from hybridwrap.errors import OutcomeUnknown, PreflightRefused

_S3_SUFFIX = ".tflock"


class _Document(msgspec.Struct, rename="pascal"):
    """What the engine writes, in a file as in an object."""

    id: str = msgspec.field(name="ID")
    path: str = ""
    operation: str = ""
    who: str = ""
    version: str = ""
    created: str = ""


class StateLocks:
    def __init__(self, processes: Processes, s3: s3_state.S3States) -> None:
        self._processes = processes
        self._s3 = s3

    def read(self, setup: Setup, settings: Mapping[str, Json] | None) -> StateLock | Unreadable | None:
        """The lock on a module's state, None when there is none. Raise OutcomeUnknown when that can't be asked.

        `settings` are those of the backend, None when only the engine can resolve them.
        """
        match setup.backend.type:
            case "local" if settings is not None:
                return _read_file(setup, local_file(settings, setup.workspace, setup.source))
            case "s3" if settings is not None and s3_state.understood(settings, setup.env):
                return self._read_object(setup, settings)
        return Unreadable(f"a lock in {setup.backend.type} can be seen by the engine alone")

    def release(self, setup: Setup, settings: Mapping[str, Json] | None, lock: StateLock) -> None:
        """Release a lock that was read before. Raise PreflightRefused when it is another one, or held by a process.

        Raise OutcomeUnknown when it can't be told what became of it.
        """
        now = self.read(setup, settings)
        if now is None:
            return
        if isinstance(now, StateLock) and now.id != lock.id:
            raise PreflightRefused(
                f"the state lock of {setup.module.name} is another one by now: {now}",
                hint=f"hybridwrap unlock {setup.module.name}",
            )
        if settings is not None and setup.backend.type == "local":
            _remove_file(setup, local_file(settings, setup.workspace, setup.source), now)
        elif settings is not None and _only_in_s3(settings) and isinstance(now, StateLock):
            self._s3.delete(settings, object_key(settings, setup.workspace) + _S3_SUFFIX, setup.env)
        else:
            self._by_engine(setup, lock)

    def _read_object(self, setup: Setup, settings: Mapping[str, Json]) -> StateLock | Unreadable | None:
        if not _is_on(settings.get("use_lockfile")):
            table = settings.get("dynamodb_table")
            return Unreadable(f"it lies in the DynamoDB table {table}") if table else None
        key = object_key(settings, setup.workspace) + _S3_SUFFIX
        data = self._s3.read(settings, key, setup.env)
        return None if data is None else _parsed(data, f"s3://{settings.get('bucket')}/{key}")

    def _by_engine(self, setup: Setup, lock: StateLock) -> None:
        argv = command_line(setup.program.argv, "force-unlock", lock.id, force=True)
        ended, _, stderr = self._processes.capture(setup.command(argv))
        if ended.exit_code != 0:
            told = stderr[-1_000:].decode(errors="replace").strip()
            raise OutcomeUnknown(f"the state lock of {setup.module.name} was not released: {told}")


def _only_in_s3(settings: Mapping[str, Json]) -> bool:
    return _is_on(settings.get("use_lockfile")) and not settings.get("dynamodb_table")


def _is_on(value: Json) -> bool:
    return value in {True, "true"}


def _parsed(data: bytes, place: str, *, holds: bool = True) -> StateLock:
    try:
        document = msgspec.json.decode(data, type=_Document)
    except msgspec.DecodeError:
        info = LockInfo(f"sha256:{sha256(data).hexdigest()[:12]}", place)
        return StateLock(info, place, readable=False, holds=holds)
    return StateLock(LockInfo(**msgspec.structs.asdict(document)), place, holds=holds)


def _read_file(setup: Setup, state: Path) -> StateLock | None:
    """Read the note that lies beside a locked state file; the lock itself is one of the system, and dies with it."""
    note = _note(state)
    try:
        data = note.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OutcomeUnknown(f"{note} can't be read: {error.strerror}") from error
    return _parsed(data, relative(note, setup.layout.root), holds=_is_locked(state))


def _remove_file(setup: Setup, state: Path, lock: StateLock | Unreadable) -> None:
    if isinstance(lock, StateLock) and lock.holds:
        raise PreflightRefused(
            f"the state of {setup.module.name} is locked by a process that is alive: {lock}",
            hint="let it come to its end, then the same command again",
        )
    _note(state).unlink(missing_ok=True)


def _note(state: Path) -> Path:
    return state.with_name(f".{state.name}.lock.info")


def _is_locked(state: Path) -> bool:
    try:
        file = os.open(state, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)  # and with it the lock that this test may have taken
    return False
