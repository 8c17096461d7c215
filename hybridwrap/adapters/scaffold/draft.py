"""What a manifest is written from: root modules by name, and the environments that they are in."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from hybridwrap.adapters.scaffold.evidence import Evidence
from hybridwrap.adapters.scaffold.reading import RootModule
from hybridwrap.domain.stack import StateRead
from hybridwrap.domain.state import StatePlace

_FOR_ALL = ("shared", "common", "single")
NOWHERE = Evidence()


class Read(Struct, frozen=True):
    """A state that a module reads: whose it is, "" when nobody's here; `place` is None where it can't be told."""

    read: StateRead
    owner: str = ""
    place: StatePlace | None = None


class Draft(Struct, frozen=True):
    """Modules by name, and which of them may be libraries."""

    stack: str
    root: Path
    modules: Mapping[str, RootModule]
    doubtful: frozenset[str] = frozenset()
    left_out: Sequence[Path] = ()
    tofu: bool = False
    terragrunt: bool = False  # whether units of Terragrunt lie there, too
    evidence: Mapping[str, Evidence] = {}
    reads: Mapping[str, tuple[Read, ...]] = {}

    @property
    def certain(self) -> Mapping[str, RootModule]:
        return {name: module for name, module in self.modules.items() if name not in self.doubtful}

    @property
    def named(self) -> tuple[str, ...]:
        """The environments that files and workspaces name."""
        return tuple(sorted({name for module in self.certain for name in self.of(module).environments}))

    @property
    def shared(self) -> str:
        """The environment of modules that have one state in any case, "" where none is needed."""
        alone = any(not self.of(module).environments for module in self.certain)
        return next(name for name in _FOR_ALL if name not in self.named) if alone and len(self.named) > 1 else ""

    @property
    def environments(self) -> tuple[str, ...]:
        return (*self.named, *([self.shared] if self.shared else []))

    def of(self, module: str) -> Evidence:
        return self.evidence.get(module, NOWHERE)

    def where(self, module: str) -> frozenset[str]:
        """The environments that a module is in; none where the manifest has none."""
        return self.of(module).environments or frozenset([self.shared] if self.shared else self.named)

    def everywhere(self) -> Iterator[str]:
        """Modules that are more than an overlay of one environment."""
        return (name for name in self.certain if not self.shared or self.of(name).environments)

    def shown(self, path: Path) -> str:
        return os.path.relpath(path, self.root)
