"""Files that are there whole, or as they were before: written beside their place, then put into it."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import mkstemp


def put_whole(file: Path, data: bytes) -> None:
    """Put data into the place of a file, for nobody but its owner. Raise OSError; nothing is left beside it then."""
    fresh = write_beside(file, data)
    try:
        fresh.replace(file)
    except OSError:
        fresh.unlink()
        raise


def write_beside(file: Path, data: bytes, *, durably: bool = False) -> Path:
    """Write data into a new file in the same folder, whose name begins with a dot. Raise OSError.

    No process id makes such a name unique: in another container, which shares the folder, somebody has the same one.
    """
    descriptor, name = mkstemp(dir=file.parent, prefix=f".{file.name[:32]}.")
    try:
        with os.fdopen(descriptor, "wb") as fresh:
            fresh.write(data)
            if durably:
                fresh.flush()
                os.fsync(fresh.fileno())
    except OSError:
        Path(name).unlink()
        raise
    return Path(name)
