"""A store in a folder of this machine.

Keeps: a key appears at once with all its bytes, durably, and only its first writer makes it: the bytes go to a
temporary file in the same folder, which is then linked to its name. A writer killed at any point leaves the key whole
or not there at all; what it may leave is a file whose name begins with a dot, which nobody reads.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hybridwrap.adapters.file_system import network_kind, read_mounts
from hybridwrap.adapters.whole_file import write_beside
from hybridwrap.domain.ports import Attempt, Creation, Listed
from hybridwrap.errors import LedgerUnreachable

WITHOUT_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS})
NO_LINKS = "a ledger needs hard links, this file system has none: use a folder on another one, or `ledger: {s3: …}`"
IN_MANIFEST = "`ledger: {folder: …}` in the manifest"
LAYOUT = "v1"  # below it lies all that a ledger has


class FolderStore:
    """Folders are 0700, files 0600; the root is made at the first write.

    `chosen_by` says what decides where it lies.
    """

    def __init__(self, root: Path, chosen_by: str = IN_MANIFEST) -> None:
        self._root = root
        self._chosen_by = chosen_by
        self._ready: set[Path] = set()  # folders that are there, on a file system that will do

    @property
    def place(self) -> str:
        return str(self._root)

    def create(self, key: str, data: bytes) -> Attempt:
        path = self._root / key
        try:
            temporary = self._write_beside(path, data)
        except LedgerUnreachable as error:
            return Attempt(Creation.REFUSED, error.message, error.hint)
        except OSError as error:
            return self._refused(path, error)
        try:
            os.link(temporary, path)
        except FileExistsError:
            return Attempt(Creation.EXISTS)
        except OSError as error:
            return Attempt(Creation.REFUSED, NO_LINKS) if error.errno in WITHOUT_LINKS else self._refused(path, error)
        finally:
            with suppress(OSError):
                temporary.unlink()
        try:
            _sync_folder(path.parent)
        except OSError as error:
            return Attempt(Creation.IN_DOUBT, _said(path, error))
        return Attempt(Creation.STORED)

    def read(self, key: str) -> bytes | None:
        try:
            return (self._root / key).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise self._unreachable(key, error) from error

    def replace(self, key: str, data: bytes, *, over: str | None = None) -> str | None:
        path = self._root / key
        try:
            temporary = self._write_beside(path, data)
            try:
                tag = _tag(temporary)  # a rename changes neither the inode nor the time of the content
                with _locked(path.parent):
                    if over is not None and _tag(path) != over:
                        return None
                    temporary.rename(path)
            finally:
                temporary.unlink(missing_ok=True)
            _sync_folder(path.parent)
        except OSError as error:
            raise self._unreachable(key, error) from error
        return tag

    def list(self, prefix: str, *, after: str = "", limit: int | None = None) -> Iterator[Listed]:
        folder, _, _ = prefix.rpartition("/")
        found = 0
        try:
            for key in _keys(self._root / folder, f"{folder}/" if folder else "", prefix, after):
                if limit is not None and found >= limit:
                    return
                tag = _tag(self._root / key)
                if tag:
                    found += 1
                    yield Listed(key, tag)
        except OSError as error:
            raise self._unreachable(prefix, error) from error

    def folders(self, folder: str) -> frozenset[str]:
        try:
            with os.scandir(self._root / folder) as found:
                return frozenset(f"{folder}{entry.name}/" for entry in found if entry.is_dir())
        except FileNotFoundError:
            return frozenset()
        except OSError as error:
            raise self._unreachable(folder, error) from error

    def delete(self, key: str) -> None:
        try:
            (self._root / key).unlink(missing_ok=True)
        except OSError as error:
            raise self._unreachable(key, error) from error

    def _refused(self, path: Path, error: OSError) -> Attempt:
        return Attempt(Creation.REFUSED, _said(path, error), self._way_out(error))

    def _unreachable(self, key: str, error: OSError) -> LedgerUnreachable:
        return LedgerUnreachable(_said(self._root / key, error), hint=self._way_out(error) or None)

    def _way_out(self, error: OSError) -> str:
        return way_out(self._root, error, self._chosen_by)

    def _write_beside(self, path: Path, data: bytes) -> Path:
        self._make_ready(path.parent)
        return write_beside(path, data, durably=True)

    def _make_ready(self, folder: Path) -> None:
        if folder in self._ready:
            return
        if not self._ready:
            _make_folder(self._root)
            self._must_be_local()
        _make_folder(folder)
        self._ready.add(folder)

    def _must_be_local(self) -> None:
        kind = network_kind(self._root, read_mounts())
        if kind:
            raise LedgerUnreachable(
                f"{self._root} lies on a network file system ({kind}): a ledger there could be written twice",
                hint="use a folder on a local disk, or `ledger: {s3: …}`",
            )


def _said(path: Path, error: OSError) -> str:
    """Name what the error is about; of a temporary file, whose name tells nobody anything, what it was for."""
    named = Path(error.filename or path)
    return f"{path if named.name.startswith('.') else named}: {error.strerror or error}"


def way_out(root: Path, error: OSError, chosen_by: str = IN_MANIFEST) -> str:
    """What helps against an error that the same command again will meet again; "" where nothing is known.

    `chosen_by` says what decides where it lies.
    """
    match error.errno:
        case errno.EROFS:
            other = elsewhere(root, chosen_by) or "work where it can be written; `status` only reads"
            return f"the file system of {root} is read-only: {other}"
        case errno.EACCES | errno.EPERM:
            other = elsewhere(root, chosen_by)
            return f"give yourself the right to write in {_there(root)}{f', or {other}' if other else ''}"
        case errno.ENOSPC | errno.EDQUOT:
            return f"make room at {_there(root)}, then the same command again"
        case errno.ENOENT | errno.ENOTDIR | errno.EEXIST | errno.ENAMETOOLONG:
            return elsewhere(root, chosen_by)
    return ""


def elsewhere(root: Path, chosen_by: str) -> str:
    """Say how to begin a ledger in another folder; "" where one is: nobody would know of what that one has."""
    return "" if (root / LAYOUT).is_dir() else f"begin the ledger elsewhere: {chosen_by}"


def _there(folder: Path) -> Path:
    return next((each for each in (folder, *folder.parents) if os.access(each, os.F_OK)), folder)


def _make_folder(folder: Path) -> None:
    """Make a folder and its parents durably."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other writers from replacing a file of the folder between a look at it and its replacement."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _tag(path: Path) -> str:
    """A tag of a file's content, "" when there is no file: every content comes with a file of its own."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return ""
    return f"{found.st_mtime_ns:x}-{found.st_ino:x}-{found.st_size:x}"


def _keys(folder: Path, key: str, prefix: str, after: str) -> Iterator[str]:
    """Keys of the files below a folder that have the prefix and come after `after`, in the order of their bytes."""
    try:
        with os.scandir(folder) as found:
            names = sorted(f"{item.name}/" if item.is_dir() else item.name for item in found if item.name[0] != ".")
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in names:
        here = f"{key}{name}"
        if name.endswith("/"):
            if here.startswith(prefix) or prefix.startswith(here):
                yield from _keys(folder / name, here, prefix, after)
        elif here.startswith(prefix) and here > after:
            yield here
