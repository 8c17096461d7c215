"""The engines of one stack: finds a program for each module and settles all that its commands have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from types import MappingProxyType

from hybridwrap.adapters.credentials_command import ask_for_credentials
from hybridwrap.adapters.engine import programs
from hybridwrap.adapters.engine.backend import place_of, settle_backend
from hybridwrap.adapters.engine.callers import Callers
from hybridwrap.adapters.engine.collector import collector_settings, free_memory
from hybridwrap.adapters.engine.environment import constant_variables, engine_environment, refuse_misleading
from hybridwrap.adapters.engine.layout import Layout, relative
from hybridwrap.adapters.engine.live_environment import LiveEnvironment
from hybridwrap.adapters.engine.module_engine import EngineOfModule
from hybridwrap.adapters.engine.process import Processes
from hybridwrap.adapters.engine.programs import Program
from hybridwrap.adapters.engine.setup import Setup
from hybridwrap.adapters.engine.state_reader import StateReader
from hybridwrap.adapters.engine.versions import Versions
from hybridwrap.adapters.printed_credentials import Printed
from hybridwrap.domain.ci import in_ci
from hybridwrap.domain.json import Json
from hybridwrap.domain.ports import Clock
from hybridwrap.domain.stack import Module, Stack
from hybridwrap.domain.state import StatePlace
from hybridwrap.errors import InvalidManifest, PreflightRefused

_NO_INPUTS: Mapping[str, Json] = MappingProxyType({})


class StackEngines:
    def __init__(self, stack: Stack, home: Path, clock: Clock, environ: Mapping[str, str], *, parallelism: int) -> None:
        self._layout = Layout(stack.root.resolve(), home.resolve(), stack.environment)
        self._environ = environ
        self._parallelism = parallelism
        self._processes = Processes(clock)
        self._clock = clock
        self._names = {"stack": stack.name, "environment": stack.environment}
        self._interrupts = 0
        self._callers = Callers(self._layout.root, clock, self._until_interrupted)
        self._versions = Versions(self._layout.versions, self._processes)
        self._reader = StateReader(self._processes)
        self._free_memory = free_memory()
        self._programs: dict[tuple[str, str], Program] = {}
        self._neighbours: dict[Path, Setup] = {}
        self._warnings: dict[str, None] = {}
        self._lock = Lock()

    def at(self, module: Module, inputs: Mapping[str, Json] = _NO_INPUTS) -> EngineOfModule:
        env, warnings = engine_environment(self._environ, module)
        source = module.source.resolve()
        program = self._program(module.engine.program, env.get("PATH", ""))
        self._warn(*warnings, *_about(program))
        identity = self._versions.identify(program, env, _there(source))
        programs.check(module, program, identity)
        refuse_misleading(env, module, identity)
        data = self._layout.data_folder(module.name, identity.product)
        env |= {
            **constant_variables(module, inputs),
            **collector_settings(env, free=self._free_memory, parallelism=self._parallelism),
            "TF_DATA_DIR": relative(data, source),
            "TF_WORKSPACE": module.workspace or "default",
        }
        backend = settle_backend(module, self._layout)
        live = self._live(module, env)
        setup = Setup(module, self._layout, source, data, program, identity, live, backend, in_ci(self._environ))
        self._fit_in(setup)
        return EngineOfModule(setup, self._processes, self._reader, self._callers, self._warn)

    def place(self, module: Module) -> StatePlace | None:
        try:
            backend = settle_backend(module, self._layout)
        except (PreflightRefused, InvalidManifest):
            return None
        if backend.settings is None:
            return None
        workspace = module.workspace or "default"
        return place_of(backend.type, backend.settings, workspace, module.source.resolve(), self._layout.root)

    def warnings(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(self._warnings)

    def end_by(self, moment: float) -> None:
        self._processes.deadline = moment

    def interrupt(self, *, again: bool = False) -> int:
        self._interrupts += 1
        return self._processes.interrupt(again=again)

    def _live(self, module: Module, env: Mapping[str, str]) -> Mapping[str, str]:
        """The environment, with the credentials that the module's command prints."""
        if not module.credentials.command:
            return env

        def ask() -> Printed:
            return ask_for_credentials(
                module,
                env=env,
                folder=self._layout.root,
                names=self._names,
                clock=self._clock,
                stopped=self._until_interrupted(),
            )

        return LiveEnvironment(env, ask)

    def _until_interrupted(self) -> Callable[[], bool]:
        """Say whether an interrupt came since now: what is asked after one, to record how things ended, goes on."""
        seen = self._interrupts
        return lambda: self._interrupts != seen

    def _program(self, wish: str, search: str) -> Program:
        if (wish, search) not in self._programs:
            self._programs[wish, search] = programs.find(wish, search=search, base=self._layout.root)
        return self._programs[wish, search]

    def _fit_in(self, setup: Setup) -> None:
        """Compare with the other modules of its folder: they share the lock file and the generated backend block."""
        with self._lock:
            other = self._neighbours.setdefault(setup.source, setup)
        if other.backend.generated != setup.backend.generated:
            raise PreflightRefused(
                f'modules "{other.module.name}" and "{setup.module.name}" share the folder {setup.source}, '
                f"but one keeps its state in {other.backend.type} and the other in {setup.backend.type}",
                hint="give both the same type of `state`, or one of them a folder of its own",
            )
        if other.identity.product != setup.identity.product:
            self._warn(f"{setup.source} is used with Terraform and with OpenTofu: they write one dependency lock file")

    def _warn(self, *texts: str) -> None:
        with self._lock:
            self._warnings.update(dict.fromkeys(texts))


def _there(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    return next(path for path in (folder, *folder.parents) if path.is_dir())


def _about(program: Program) -> tuple[str, ...]:
    if not program.is_script:
        return ()
    told = f"{program} is a script: an interrupt may not reach the engine behind it"
    return (f"{told}; name the binary in the manifest: engine: {{program: PATH}}",)
