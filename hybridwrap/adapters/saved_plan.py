"""A plan of an engine as one piece of bytes, with all that belongs to it, to be applied from another folder."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePath

from hybridwrap.errors import ApprovalOutdated


def pack(folder: Path, names: Iterable[str]) -> bytes:
    """Put files of a folder into one."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
        for name in names:
            data = (folder / name).read_bytes()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def unpack(data: bytes, names: Iterable[str]) -> dict[str, bytes]:
    """Read what `pack` made of files of these names. Raise ApprovalOutdated when it is something else."""
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
            return {name: _content(archive, name) for name in names}
    except (tarfile.TarError, EOFError, KeyError, OSError) as error:
        raise ApprovalOutdated(f"a saved plan can't be read: {error}") from error


def _content(archive: tarfile.TarFile, name: str) -> bytes:
    member = archive.extractfile(name)
    if member is None:
        raise KeyError(name)
    return member.read()


def names_folder(plan: bytes, planned_in: PurePath, applied_in: PurePath) -> bool:
    """Whether a plan has values in it that depend on where it was made; then it can't be applied elsewhere.

    The engine evaluates `path.cwd` and `abspath()` again when it applies, and fails half-way where they differ
    ("Provider produced inconsistent final plan", seen with Terraform 1.11). An encrypted plan tells nothing.
    """
    if planned_in == applied_in:
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(plan)) as archive:
            return str(_own_part(planned_in, applied_in)).encode() in archive.read("tfplan")
    except (zipfile.BadZipFile, KeyError):
        return True


def _own_part(one: PurePath, other: PurePath) -> PurePath:
    """The path without what both end in: what every absolute path in a checkout begins with."""
    while one.name and one.name == other.name:
        one, other = one.parent, other.parent
    return one
