"""The files of one operation on this host, and the locks that prove that its processes live.

The rule it keeps: whoever works on an operation holds `flock` on one of its two lock files. hybridwrap holds
`runner.lock` from the making of the folder to its end; the event file is locked before `begin` and then handed to the
engine as its stdout, so that this lock lives exactly as long as the engine does, whatever happens to hybridwrap.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile

from hybridwrap.adapters.engine.events import read_stream
from hybridwrap.adapters.operation_locks import describe, open_locked
from hybridwrap.domain.engine_run import Stream
from hybridwrap.domain.entry import Locks
from hybridwrap.domain.json import Json, loads
from hybridwrap.errors import ApprovalOutdated, OutcomeUnknown, PreflightRefused

EVENTS = "events.jsonl"
RUNNER_LOCK = "runner.lock"
PLAN = "plan"
PLAN_EVENTS = "plan.jsonl"
VARIABLES = "vars.tfvars.json"
OUTPUTS = "outputs.json"  # for hooks, while they run
HOOKS_LOG = "hooks.log"
CLAIM = "claim.json"
RESULT = "result.json"
_LOGS = (EVENTS, PLAN_EVENTS, "init.jsonl", "stderr")
SECRETS = (PLAN, VARIABLES, OUTPUTS)
PLAN_FILES = (PLAN, VARIABLES, PLAN_EVENTS)


class Folder:
    """One operation's own files: folder 0700, files 0600."""

    def __init__(self, path: Path, runner: int, events: int | None = None) -> None:
        """Own the open, locked lock files that are given."""
        self._path = path
        self._runner: int | None = runner
        self._events = events

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
            with refusing(self._path):
                self._events = open_locked(self.events)
        return Locks(describe(self.events, self._events), describe(self._path / RUNNER_LOCK, self._runner))

    def hand_over(self) -> int | None:
        handed, self._events = self._events, None
        return handed

    def keep_claim(self, data: bytes) -> None:
        with refusing(self._path):
            _put(self._path / CLAIM, data)

    def keep_result(self, data: bytes) -> None:
        with suppress(OSError):  # a disk that is full: events and state will tell it once more
            _put(self._path / RESULT, data)
            _sync(self._path)

    def keep(self, name: str, data: bytes) -> Path:
        file = self._path / name
        try:
            _put(file, data)
            _sync(self._path)
        except OSError as error:
            raise OutcomeUnknown(f"{file} can't be written: {error.strerror}") from error
        return file

    def close_business(self) -> None:
        for name in (RESULT, CLAIM):
            (self._path / name).unlink(missing_ok=True)

    def drop_secrets(self) -> None:
        drop_secrets(self._path)

    def rewrite_logs(self, mask: Callable[[str], str]) -> None:
        for name in _LOGS:
            try:
                rewrite(self._path / name, mask)
            except OSError:  # a disk that is full
                self._empty(self._path / name)

    def release(self) -> None:
        for held in (self._events, self._runner):
            if held is not None:
                os.close(held)
        self._events = self._runner = None

    def remove(self) -> None:
        self.release()
        shutil.rmtree(self._path, ignore_errors=True)  # what resists is swept by a later command

    def claim(self) -> bytes | None:
        return content(self._path / CLAIM)

    def result(self) -> bytes | None:
        return content(self._path / RESULT)

    def kept(self, name: str) -> bytes | None:
        return content(self._path / name)

    def told(self) -> Stream:
        return read_stream(content(self.events) or b"")

    def told_by_plan(self) -> Stream:
        return read_stream(content(self._path / PLAN_EVENTS) or b"")

    def pack_plan(self) -> bytes:
        from hybridwrap.adapters.saved_plan import pack

        return pack(self._path, PLAN_FILES)

    def take_plan(self, data: bytes, digest: str) -> Stream:
        from hybridwrap.adapters.saved_plan import unpack

        files = unpack(data, PLAN_FILES)
        if sha256(files[PLAN]).hexdigest() != digest:
            raise ApprovalOutdated("a saved plan is not the one that was approved", hint="hybridwrap plan --save")
        with refusing(self._path):
            for name, content in files.items():
                _put(self._path / name, content)
        return self.told_by_plan()

    def plan_names(self, planned_in: str, applied_in: Path) -> bool:
        from hybridwrap.adapters.saved_plan import names_folder

        return names_folder((self._path / PLAN).read_bytes(), Path(planned_in), applied_in)

    def inputs(self) -> Mapping[str, Json]:
        found = content(self._path / VARIABLES)
        return loads(found) if found else {}

    def _empty(self, log: Path) -> None:
        """Empty a log that may hold secrets, unless it is all that tells what happened."""
        if (self._path / RESULT).exists():
            with suppress(OSError):
                os.truncate(log, 0)


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Translate what the file system refuses while nothing was changed yet. Raise PreflightRefused."""
    try:
        yield
    except OSError as error:
        raise PreflightRefused(
            f"the operation's folder {path} can't be made: {error.strerror}",
            hint="make room or rights there, or set HYBRIDWRAP_HOME to a folder that can be written",
        ) from error


def drop_secrets(path: Path) -> None:
    for name in SECRETS:
        (path / name).unlink(missing_ok=True)


def _put(file: Path, data: bytes) -> None:
    """Write a file whole."""
    written = file.with_name(f"{file.name}.new")
    with os.fdopen(os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as new:
        new.write(data)
        new.flush()
        os.fsync(new.fileno())
    written.replace(file)


def _sync(folder: Path) -> None:
    """Make durable which files there are."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def content(file: Path) -> bytes | None:
    """Read a file, None when it is not there, or not any more."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def rewrite(file: Path, mask: Callable[[str], str]) -> None:
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
