"""Standard streams that may be closed, full or gone: nothing that is at work ends for that."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

HIGHEST = 2  # of the descriptors that programs take for standard streams


def open_missing() -> None:
    """Put /dev/null in the place of each stream that the caller closed.

    Else the next file that is opened would get its number, and what engines print would go there.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= HIGHEST:
        os.set_inheritable(descriptor, True)  # noqa: FBT003
    os.close(descriptor)
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115


def let_go() -> None:
    """Write out what is held back; of a stream that takes nothing, forget it: Python would complain at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError):
                stream.close()
