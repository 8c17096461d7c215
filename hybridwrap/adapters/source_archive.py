"""A module's source as one file: all that the engine reads of it, and nothing that may hold a secret.

The same content makes the same bytes. The first member is the module's own folder; what it reads beside it, such as
`../common`, keeps its place relative to that.
"""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from hybridwrap.adapters.source import GENERATED, LOCK_FILE, closure, config_files, files_read
from hybridwrap.errors import LedgerDamaged

LARGEST = 1 << 20  # bytes of content
_SECRET = (".tfvars", ".tfvars.json", ".tfstate", ".tfstate.backup", ".tfplan")


def pack(folder: Path) -> bytes | None:
    """Archive a module; of one whose folders are too large only what is configuration. None when that is, too."""
    folders = closure(folder)
    for files in (_everything(folders), _configuration(folders)):
        contents = _read(files)
        if contents is not None:
            return _archive(folder, contents)
    return None


def _everything(folders: list[Path]) -> Iterator[Path]:
    for top in folders:
        for folder, below, names in os.walk(top):
            below[:] = [name for name in below if not name.startswith(".")]
            yield from (Path(folder, name) for name in names if _is_kept(name))
    yield from files_read(folders)


def _configuration(folders: list[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from config_files(folder, tofu=True)
        yield from config_files(folder, tofu=False)
        yield folder / LOCK_FILE
    yield from files_read(folders)


def _is_kept(name: str) -> bool:
    if name == LOCK_FILE:
        return True
    return not name.startswith(".") and name != GENERATED and not name.endswith(_SECRET)


def _read(files: Iterator[Path]) -> dict[Path, bytes] | None:
    """The contents by normal path; None as soon as they are too much."""
    contents: dict[Path, bytes] = {}
    left = LARGEST
    for file in files:
        path = Path(os.path.normpath(file))
        if path in contents or not path.is_file():
            continue
        left -= path.stat().st_size
        if left < 0:
            return None
        with suppress(OSError):  # the engine can't read it either
            contents[path] = path.read_bytes()
    return contents


def _archive(folder: Path, contents: dict[Path, bytes]) -> bytes:
    base = Path(os.path.commonpath([folder, *(file.parent for file in contents)]))
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as tar:
        own = tarfile.TarInfo(folder.relative_to(base).as_posix())
        own.type, own.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(own)
        for file in sorted(contents):
            member = tarfile.TarInfo(file.relative_to(base).as_posix())
            member.size = len(contents[file])
            member.mode = 0o755 if os.access(file, os.X_OK) else 0o644
            tar.addfile(member, io.BytesIO(contents[file]))
    return data.getvalue()


def place_in(data: bytes) -> PurePosixPath:
    """Say where the module's own folder lies in an archive. Raise LedgerDamaged."""
    with _opened(data) as tar:
        own = tar.next()
    if own is None:
        raise LedgerDamaged("the kept source is empty")
    return PurePosixPath(own.name)


def unpack(data: bytes, target: Path) -> PurePosixPath:
    """Write an archive's files below a folder; return where the module's own folder lies in it. Raise LedgerDamaged."""
    with _opened(data) as tar:
        for member in tar.getmembers():
            _write(tar, member, target)
    return place_in(data)


@contextmanager
def _opened(data: bytes) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            yield tar
    except tarfile.TarError as error:
        raise LedgerDamaged(f"the kept source is no archive: {error}") from error


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts:
        raise LedgerDamaged(f"the kept source would be written outside its folder: {member.name}")
    place = target / path
    if member.isdir():
        place.mkdir(parents=True, exist_ok=True)
        return
    content = tar.extractfile(member)
    if content is None:
        raise LedgerDamaged(f"the kept source holds what is no file: {member.name}")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content.read())
    place.chmod(member.mode & 0o755 | 0o600)
