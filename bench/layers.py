"""How long a stack of 500 modules in 50 files takes to be checked, and to be checked again."""

from __future__ import annotations

from pathlib import Path

from bench.ground import HYBRIDWRAP, Ground
from bench.process import measured
from bench.report import Row
from tests.support.many_files import write_many_files

_FILES, _EACH = 50, 10
_SECTION = f"validate {_FILES * _EACH} modules in {_FILES} files"
_PROMISED_FIRST = 1.0
_PROMISED_AGAIN = 0.3


def validating(ground: Ground, folder: Path) -> list[Row]:
    write_many_files(folder, _FILES, _EACH)
    argv = [HYBRIDWRAP, "validate", "-e", "dev"]
    first, again = (measured(argv, folder, ground.env, folder / "validate.log") for _ in range(2))
    return [
        Row(_SECTION, "first", first.seconds, "s", promised=_PROMISED_FIRST),
        Row(_SECTION, "first, of the processor", first.cpu, "s"),
        Row(_SECTION, "again", again.seconds, "s", promised=_PROMISED_AGAIN),
        Row(_SECTION, "again, of the processor", again.cpu, "s"),
    ]
