"""A stack in a folder, with everything that is needed to run the engine on its modules."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hybridwrap.adapters.clock import SystemClock, Ulids
from hybridwrap.adapters.engine.engines import StackEngines
from hybridwrap.adapters.home import home_of
from hybridwrap.adapters.introspection import introspect
from hybridwrap.adapters.operation_folder import Folder
from hybridwrap.adapters.operation_folders import Folders
from hybridwrap.domain.json import Json
from hybridwrap.domain.ports import Applied, EngineEvent, Engines, ModuleEngine, Planned, PlanOptions
from hybridwrap.domain.stack import EngineWish, LedgerSettings, Module, Stack

ONE = """
variable "value" {}
resource "terraform_data" "one" { input = var.value }
output "value" { value = terraform_data.one.output }
"""

# Runs until the file `go` is there, and for five minutes at most.
GATED = """
resource "terraform_data" "gated" {
  provisioner "local-exec" {
    command = "for i in $(seq 6000); do [ -e go ] && exit 0; sleep 0.05; done; exit 1"
  }
}
resource "terraform_data" "after" { input = terraform_data.gated.id }
output "id" { value = terraform_data.after.output }
"""


def _clean_environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TF_", "HYBRIDWRAP_"))}
    return {**kept, "TF_CLI_CONFIG_FILE": os.devnull}


def ignore(_: EngineEvent) -> None:
    """Listen to nothing."""


@dataclass
class Workshop:
    root: Path
    program: str
    environ: dict[str, str] = field(default_factory=_clean_environment)
    environment: str = "default"

    @property
    def home(self) -> Path:
        return home_of(self.root, self.environ)

    @property
    def folders(self) -> Folders:
        return Folders(self.home, "shop")

    def module(self, name: str, text: str = ONE, *, folder: str = "", **wishes: Any) -> Module:
        """Write a module's source and describe it as the manifest would."""
        source = self.root / (folder or f"modules/{name}")
        source.mkdir(parents=True, exist_ok=True)
        (source / "main.tf").write_text(text)
        tofu = self.program == "tofu"
        wishes.setdefault("engine", EngineWish(self.program))
        return Module(name, source, interface=introspect(source, folder or name, tofu=tofu), **wishes)

    def engines(self) -> StackEngines:
        stack = Stack("shop", self.environment, self.root / "hybridwrap.yaml", {}, LedgerSettings())
        return StackEngines(stack, self.home, SystemClock(), self.environ, parallelism=2)

    def make_folder(self) -> Folder:
        return self.folders.make(Ulids(SystemClock()).new())

    def plan(self, module: Module, *, options: PlanOptions | None = None, **inputs: Json) -> Planned:
        """Init and plan with fresh engines, as one call of hybridwrap does it."""
        folder = self.make_folder()
        engine = self.engines().at(module, inputs)
        engine.init(folder)
        planned = engine.plan(folder, inputs, options or PlanOptions(), ignore)
        folder.remove()
        return planned

    def apply(self, module: Module, **inputs: Json) -> Applied:
        return Operation(self, module, inputs).apply()


class Operation:
    """One apply, step by step."""

    def __init__(self, workshop: Workshop, module: Module, inputs: Mapping[str, Json] | None = None) -> None:
        self.engines = workshop.engines()
        self.folder = workshop.make_folder()
        self.engine = self.engines.at(module, inputs or {})
        self._inputs = inputs or {}

    def plan(self, options: PlanOptions | None = None) -> Planned:
        self.engine.init(self.folder)
        return self.engine.plan(self.folder, self._inputs, options or PlanOptions(), ignore)

    def apply(self, listen: Callable[[EngineEvent], None] = ignore, options: PlanOptions | None = None) -> Applied:
        self.plan(options)
        self.folder.lock()
        try:
            return self.engine.apply(self.folder, listen)
        finally:
            self.folder.drop_secrets()
            self.folder.release()


def contracts(engines: StackEngines, engine: ModuleEngine) -> tuple[Engines, ModuleEngine]:
    """For the type checker: the adapters fulfil the ports."""
    return engines, engine
