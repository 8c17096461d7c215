"""Which engine program to start, and what it is: terraform, tofu, the embedded one, or the user's own choice."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from hybridwrap.adapters.engine import embedded
from hybridwrap.domain.entry import EngineIdentity
from hybridwrap.domain.stack import Module
from hybridwrap.domain.version import satisfies
from hybridwrap.errors import EngineNotUsable

AUTO = ("terraform", "tofu", "embedded")
NAMES = {"terraform": "Terraform", "opentofu": "OpenTofu"}
OLDEST = {"terraform": "1.9.0", "opentofu": "1.7.0"}  # the first ones whose `init` has -json


class Program(Struct, frozen=True):
    """An engine that can be started: `argv` comes before its own arguments."""

    argv: tuple[str, ...]
    file: Path  # what it really is: as long as size and time are the same, so is its version
    is_script: bool = False  # in front of the real binary, as version managers put there

    def __str__(self) -> str:
        return f"the embedded engine ({self.file})" if len(self.argv) > 1 else self.argv[0]


def find(wish: str, *, search: str, base: Path) -> Program:
    """Find the wished program on a search path; a wish with a slash is a path below `base`. Raise EngineNotUsable."""
    for name in AUTO if wish == "auto" else (wish,):
        program = _look_up(name, search=search, base=base)
        if program:
            return program
    if wish == "auto":
        raise EngineNotUsable(
            "no engine: neither terraform nor tofu is on PATH, and there is no embedded one",
            hint="install Terraform or OpenTofu, or: pip install 'hybridwrap[embedded]'",
        )
    raise EngineNotUsable(
        f"engine {wish!r} was not found or can't be executed",
        hint="install it, or name another in the manifest: engine: {program: …}",
    )


def check(module: Module, program: Program, identity: EngineIdentity) -> None:
    """Raise EngineNotUsable when a module does not allow this engine; OpenTofu would ignore its own rule in `.tf`."""
    for constraint, whose in _demands(module, identity):
        if not _allows(constraint, identity.version):
            product = NAMES[identity.product]
            raise EngineNotUsable(
                f'module "{module.name}" needs {product} {constraint} ({whose}), '
                f"but {program} is {product} {identity.version}",
                hint="install a version that fits, or name its program in the manifest: engine: {program: PATH}",
            )


def is_old(identity: EngineIdentity) -> bool:
    """Whether hybridwrap can't drive it."""
    return not _allows(f">= {OLDEST[identity.product]}", identity.version)


def _demands(module: Module, identity: EngineIdentity) -> Iterator[tuple[str, str]]:
    yield f">= {OLDEST[identity.product]}", "older ones can't be driven by hybridwrap"
    yield module.engine.version, "engine.version in the manifest"
    for constraint in module.interface.required_version:
        yield constraint, f"required_version in {module.source}"


def _allows(constraint: str, version: str) -> bool:
    """As the engines do it: a pre-release counts as its release, unless the constraint names a pre-release."""
    return satisfies(version if "-" in constraint else version.partition("-")[0], constraint)


def _look_up(name: str, *, search: str, base: Path) -> Program | None:
    if name == "embedded":
        return _embedded()
    if "/" in name:
        file = base / Path(name).expanduser()
        return _on_disk(file) if os.access(file, os.X_OK) and file.is_file() else None
    found = shutil.which(name, path=search)
    return _behind_wrapper(Path(found).absolute()) if found else None


def _embedded() -> Program | None:
    file = embedded.library()
    # -P: the files beside it must not be taken for parts of Python
    return Program((sys.executable, "-P", embedded.__file__), file) if file else None


def _behind_wrapper(file: Path) -> Program:
    """Skip the wrapper of setup-terraform and setup-opentofu: it dies of an interrupt that its engine survives."""
    binary = file.with_name(f"{file.name}-bin")
    return _on_disk(binary if binary.is_file() else file)


def _on_disk(file: Path) -> Program:
    with file.open("rb") as content:
        return Program((str(file),), file.resolve(), is_script=content.read(2) == b"#!")
