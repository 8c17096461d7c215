"""A live run on a terminal that is only looked at, and a scene to play on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from rich.console import Console

from hybridwrap.cli.display import Display
from hybridwrap.cli.live_run import LiveRun
from hybridwrap.cli.scene import Scene
from hybridwrap.domain.engine_run import Action, ChangeSummary, Hook, PlannedChange
from hybridwrap.domain.run import ModuleEnd, Run, RunStart
from hybridwrap.domain.stack import Module
from tests.support.ledgers import FakeClock, writer
from tests.support.screen import Screen

ROOT = Path("/stack")


@dataclass
class Theatre:
    """A live run on a terminal that is only looked at."""

    modules: tuple[str, ...]
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    columns: int = 80
    rows: int = 24
    verbosity: int = 0
    earlier: tuple[Run, ...] = ()
    clock: FakeClock = field(default_factory=FakeClock)

    def __post_init__(self) -> None:
        self.file = StringIO()
        console = Console(
            file=self.file, force_terminal=True, width=self.columns, height=self.rows, highlight=False, _environ={}
        )
        scene = Scene(
            clock=self.clock,
            root=ROOT,
            declared={
                name: Module(name, ROOT / "modules" / name, depends_on=self.needs.get(name, ()))
                for name in self.modules
            },
            modules=self.modules,
            parallelism=4,
            log_of=lambda module, operation: f"/log/{module}/{operation}/events.jsonl",
            earlier=lambda: self.earlier,
        )
        self.run = LiveRun(scene, self.verbosity, Display(console))

    def play(self, act: Callable[[Theatre], None]) -> list[str]:
        """Play a part of a run; return what is on the screen before it is over."""
        with self.run.at_work():
            act(self)
            return self.look()

    def look(self) -> list[str]:
        self.run.refresh()
        return self.screen.lines

    @property
    def screen(self) -> Screen:
        screen = Screen(self.columns)
        screen.write(self.file.getvalue())
        return screen

    def begin(self, command: str = "apply") -> None:
        edges = {name: self.needs.get(name, ()) for name in self.modules}
        self.run.run_began(RunStart("R9", command, "2026-01-01T00:00:00Z", writer(), (), self.modules, edges))

    def plan(self, module: str, addresses: Iterable[str]) -> None:
        self.run.phase(module, "plan")
        for address in addresses:
            self.run.event(module, PlannedChange(address, Action.CREATE))
        self.run.event(module, ChangeSummary("plan", {"add": 1}))

    def hook(
        self, module: str, address: str, phase: str, action: Action = Action.CREATE, provisioner: str = ""
    ) -> None:
        self.run.event(module, Hook(address, action, phase, provisioner=provisioner))


def half_way(theatre: Theatre) -> None:
    theatre.begin()
    theatre.run.module_ended("network", ModuleEnd("ok", counts={"add": 3}, seconds=4.1))
    theatre.plan("vm", [f"module.fleet.aws_instance.web[{i}]" for i in range(12)])
    theatre.run.phase("vm", "apply")
    for index in range(3):
        theatre.hook("vm", f"module.fleet.aws_instance.web[{index}]", "start")
        theatre.hook("vm", f"module.fleet.aws_instance.web[{index}]", "complete")
    theatre.hook("vm", "module.fleet.aws_instance.web[7]", "start")
    theatre.clock.sleep(75)
    theatre.hook("vm", "module.fleet.aws_instance.web[8]", "start")


FOUR = ("network", "vm", "configuration", "health")
CHAIN = {"vm": ("network",), "configuration": ("vm",), "health": ("configuration",)}
