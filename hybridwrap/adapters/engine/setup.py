"""Everything that is settled about one module's engine before any of its commands runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from hybridwrap.adapters.engine.arguments import Option, command_line
from hybridwrap.adapters.engine.backend import Backend, place_of
from hybridwrap.adapters.engine.layout import Layout
from hybridwrap.adapters.engine.process import Command
from hybridwrap.adapters.engine.programs import Program
from hybridwrap.domain.entry import EngineIdentity
from hybridwrap.domain.json import Json
from hybridwrap.domain.stack import Module
from hybridwrap.domain.state import StatePlace


class Setup(Struct, frozen=True):
    module: Module
    layout: Layout
    source: Path  # the module's folder, a real path
    data: Path  # its TF_DATA_DIR
    program: Program
    identity: EngineIdentity
    env: Mapping[str, str]
    backend: Backend
    in_ci: bool = False  # where init takes a dependency lock file as it is

    @property
    def workspace(self) -> str:
        return self.module.workspace or "default"

    def init_line(self, **options: Option) -> tuple[str, ...]:
        """The command line of `init`."""
        files = {"backend-config": [str(file) for file in self.backend.files]}
        return command_line(self.program.argv, "init", **options, backend_config=self.backend.arguments, **files)

    def command(self, argv: tuple[str, ...]) -> Command:
        return Command(argv, self.source, self.env)

    def outside_workspace(self, argv: tuple[str, ...]) -> Command:
        """A command that does not need the workspace: with its name in the environment, the engine would make it."""
        return Command(argv, self.source, {**self.env, "TF_WORKSPACE": "default"})

    def place(self, settings: Mapping[str, Json]) -> StatePlace:
        return place_of(self.backend.type, settings, self.workspace, self.source, self.layout.root)
