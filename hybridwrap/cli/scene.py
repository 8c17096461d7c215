"""What those who tell of a run know before it begins."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from hybridwrap.cli.options import NOWHERE, Place
from hybridwrap.domain.engine_run import Diagnostic
from hybridwrap.domain.ports import Clock
from hybridwrap.domain.run import ModuleEnd, Run
from hybridwrap.domain.stack import Module


class Scene(Struct, frozen=True):
    clock: Clock
    root: Path  # the manifest's folder
    declared: Mapping[str, Module]
    modules: tuple[str, ...]  # selected
    parallelism: int
    log_of: Callable[[str, str], str]  # of a module's operation: where its engine's log lies, "" when there is none
    earlier: Callable[[], Sequence[Run]]  # runs, newest first; reads the ledger
    said: Place = NOWHERE  # what commands to type next must say, too

    def needs(self, modules: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        return {name: self.declared[name].needs if name in self.declared else () for name in modules}

    def place(self, module: str, error: Diagnostic) -> str:
        """Where an error stands, as seen from the manifest: the engine speaks of files in the module's folder."""
        declared = self.declared.get(module)
        return place_of(error, declared.source if declared else self.root, self.root)

    def log(self, module: str, end: ModuleEnd) -> str:
        """Where the log of a module's operation lies, as short as it can be typed here."""
        log = self.log_of(module, end.operation) if end.operation else ""
        return shortened(log)


def place_of(error: Diagnostic, source: Path, root: Path) -> str:
    """`file:line` as seen from a root, "" when the engine names no file."""
    if not error.file:
        return ""
    file = os.path.relpath(source / error.file, root)
    return f"{file}:{error.line}" if error.line else file


def shortened(path: str) -> str:
    """A path as seen from the current folder when it lies below it."""
    here = f"{Path.cwd()}{os.sep}"
    return path.removeprefix(here)
