"""The engine, set up for one module: init, plan, apply, the state, and any other command."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from io import FileIO
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hybridwrap.adapters.engine import programs
from hybridwrap.adapters.engine.arguments import command_line
from hybridwrap.adapters.engine.callers import Callers
from hybridwrap.adapters.engine.failure import failed, refuse_contradiction
from hybridwrap.adapters.engine.file_locks import planning_in
from hybridwrap.adapters.engine.initialise import initialise, missing_files
from hybridwrap.adapters.engine.initialised import current_settings, forget_stamp
from hybridwrap.adapters.engine.live_environment import LiveEnvironment
from hybridwrap.adapters.engine.locking import lock
from hybridwrap.adapters.engine.obstacles import ERRORED, refuse_errored
from hybridwrap.adapters.engine.process import Command, Processes, Tail
from hybridwrap.adapters.engine.setup import Setup
from hybridwrap.adapters.engine.state_reader import StateReader
from hybridwrap.adapters.engine.streaming import open_private, stream, write_private
from hybridwrap.adapters.engine.workspaces import refuse_missing_workspace
from hybridwrap.adapters.operation_folder import PLAN, VARIABLES
from hybridwrap.adapters.source import lock_digest
from hybridwrap.adapters.state_file import parse_state
from hybridwrap.domain.deviation import Deviation
from hybridwrap.domain.engine_run import Ended, Stream
from hybridwrap.domain.entry import EngineIdentity
from hybridwrap.domain.identity import Caller
from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.lock_files import LockWish
from hybridwrap.domain.ports import Applied, ByHand, Listen, OperationFolder, Planned, PlanOptions
from hybridwrap.domain.state import EngineState, StatePlace, Unreadable
from hybridwrap.domain.state_lock import StateLock

if TYPE_CHECKING:
    from hybridwrap.adapters.engine.repair import ModuleRepair

LOCK_HINT = "next: hybridwrap lock, and commit what it writes"
PLAN_OUTPUT = "plan.jsonl"
_CHANGES = 2  # exit code of plan -detailed-exitcode

# What the engine says when the data folder is not as an init would make it.
_NEEDS_INIT = (
    "Backend initialization required",
    "Module not installed",
    "Required plugins are not installed",
    "Missing required provider",
    "Inconsistent dependency lock file",
)


class EngineOfModule:
    def __init__(
        self,
        setup: Setup,
        processes: Processes,
        reader: StateReader,
        callers: Callers,
        warn: Callable[[str], None],
    ) -> None:
        self._setup = setup
        self._warn = warn
        self._callers = callers
        self._processes = processes
        self._reader = reader
        self._identity = setup.identity
        self._initialised_now = False
        self._worked = 0.0  # seconds spent on plan and apply
        self._resolved: Mapping[str, Json] | None = None

    @cached_property
    def repair(self) -> ModuleRepair:
        from hybridwrap.adapters.engine.repair import ModuleRepair

        return ModuleRepair(self._setup, self._processes, self._reader, lambda: self._settings)

    @property
    def identity(self) -> EngineIdentity:
        return self._identity

    @property
    def place(self) -> StatePlace:
        return self._setup.place(self._settings or {})

    @property
    def env(self) -> Mapping[str, str]:
        env = self._setup.env
        return env.given if isinstance(env, LiveEnvironment) else env

    def whole_env(self) -> Mapping[str, str]:
        return dict(self._setup.env)

    def renew(self) -> Mapping[str, str]:
        env = self._setup.env
        return env.renew() if isinstance(env, LiveEnvironment) else {}

    def caller(self) -> Caller:
        return self._callers.of(self._setup.env)

    def init(self, folder: OperationFolder, *, upgrade: bool = False) -> bool:
        self._resolved = None
        unlocked = self._setup.in_ci and not lock_digest(self._setup.source)
        self._initialised_now = initialise(self._setup, folder, self._processes, self._reader, upgrade=upgrade)
        if unlocked and lock_digest(self._setup.source):
            self._warn(f"{self._setup.module.name} has no lock file: init took the newest providers; {LOCK_HINT}")
        refuse_missing_workspace(self._setup, self._processes, self._reader)
        return self._initialised_now

    def lock(self, wish: LockWish) -> bool:
        return lock(self._setup, self._processes, wish)

    def plan(
        self, folder: OperationFolder, inputs: Mapping[str, Json], options: PlanOptions, listen: Listen
    ) -> Planned:
        refuse_errored(self._setup)
        write_private(folder.path / VARIABLES, canonical(inputs))
        ended, told = self._plan(folder, options, listen)
        if ended.exit_code == 1 and _needs_init(told) and not self._initialised_now:
            forget_stamp(self._setup)
            self.init(folder)
            ended, told = self._plan(folder, options, listen)
        plan = folder.path / PLAN
        too_late = ended.overdue or self._time_left <= 0  # an interrupt that comes late lets a plan end well
        if too_late or ended.exit_code not in {0, _CHANGES}:
            plan.unlink(missing_ok=True)  # a failed plan leaves a file, too
            raise failed(self._setup, "plan", replace(ended, overdue=too_late), told, folder.path)
        refuse_contradiction(self._setup, ended, told)
        self._believe(told)
        return Planned(ended, told, changes=ended.exit_code == _CHANGES, digest=_digest(plan))

    def show(self, folder: OperationFolder, *, colour: bool) -> str:
        line = command_line(
            self._setup.program.argv, "show", str(folder.path / PLAN), no_color=None if colour else True
        )
        ended, text, told = self._processes.capture(self._setup.command(line))
        if ended.exit_code != 0:
            return f"(the engine can't show the plan: {told.decode(errors='replace').strip()})\n"
        return text.decode(errors="replace")

    def deviations(self, folder: OperationFolder) -> tuple[Deviation, ...]:
        line = command_line(self._setup.program.argv, "show", str(folder.path / PLAN), json=True)
        ended, document, _ = self._processes.capture(self._setup.command(line))
        from hybridwrap.adapters.engine.deviations import deviations_in

        return deviations_in(document) if ended.exit_code == 0 else ()

    def apply(self, folder: OperationFolder, listen: Listen) -> Applied:
        refuse_errored(self._setup)
        lock = folder.hand_over()
        if lock is None:
            raise ValueError(f"{folder.path} must be locked before the engine may change anything")
        command = self._setup.command(self._apply_line(folder.path))
        ended, told = stream(self._processes, command, folder.events, FileIO(lock, "a"), listen, limit=self._time_left)
        return Applied(ended, told, _errored_state(self._setup.source, ended, told))

    def state(self) -> EngineState | None:
        data = self.state_bytes()
        if data is None:
            return None
        state = parse_state(data, str(self.place))
        if state.readable or self._identity.product != "opentofu":
            return state
        pulled = self._reader.pull(self._setup)
        return parse_state(pulled, str(self.place)) if pulled else state

    def state_bytes(self) -> bytes | None:
        return self._reader.read(self._setup, self._settings)

    def state_lock(self) -> StateLock | Unreadable | None:
        return self._reader.locks.read(self._setup, self._settings)

    def release_state_lock(self, lock: StateLock) -> None:
        self._reader.locks.release(self._setup, self._settings, lock)

    def run(self, folder: OperationFolder, argv: tuple[str, ...], inputs: Mapping[str, Json] | None = None) -> Ended:
        if inputs is not None:
            write_private(folder.path / VARIABLES, canonical(inputs))
            argv = (argv[0], *(f"-var-file={file}" for file in self._var_files(folder.path)), *argv[1:])
        env = dict(self._setup.env)
        if argv[:1] == ("workspace",):
            env.pop("TF_WORKSPACE")  # with it, the engine refuses to make or choose one
        command = Command((*self._setup.program.argv, *argv), self._setup.source, env)
        lock = folder.hand_over()
        if lock is None:
            return self._processes.finish(self._processes.start(command, stdin=None, stdout=None, stderr=None))
        with FileIO(lock, "a") as stdout, Tail(folder.events, _to_terminal) as tail:
            process = self._processes.start(command, stdin=None, stdout=stdout.fileno(), stderr=None)
            stdout.close()
            return self._processes.finish(process, tail.read)

    @property
    def _time_left(self) -> float:
        """Seconds that the module's `timeout` leaves for its next command."""
        timeout = self._setup.module.timeout_seconds
        return inf if timeout is None else timeout - self._worked

    @property
    def _settings(self) -> Mapping[str, Json] | None:
        if self._resolved is None:
            self._resolved = current_settings(self._setup)
        return self._resolved

    def _plan(self, folder: OperationFolder, options: PlanOptions, listen: Listen) -> tuple[Ended, Stream]:
        write_private(folder.path / PLAN, b"")  # the engine keeps the mode of a file that is there
        output = folder.path / PLAN_OUTPUT
        command = self._setup.command(self._plan_line(folder.path, options))
        with planning_in(self._setup.source, self._setup.layout.home):
            ended, told = stream(
                self._processes, command, output, open_private(output, "w"), listen, limit=self._time_left
            )
        self._worked += ended.seconds
        return ended, told

    def command_lines(self, folder: Path, options: PlanOptions) -> Mapping[str, tuple[str, ...]]:
        return {
            "init": self._setup.init_line(input="false", json=True),
            "plan": self._plan_line(folder, options),
            "apply": self._apply_line(folder),
        }

    def by_hand(self, folder: Path) -> ByHand:
        setup, files = self._setup, self._var_files(folder)
        program, plan = setup.program.argv, str(folder / PLAN)
        init = setup.init_line()
        if setup.workspace != "default":  # with its name in the environment, init would make it
            init = ("env", "TF_WORKSPACE=default", *init)
        lines = {
            "init": init,
            "plan": command_line(program, "plan", out=plan, var_file=files),
            "apply": command_line(program, "apply", plan, var_file=files),
            "output": command_line(program, "output"),
            "destroy": command_line(program, "destroy", var_file=files),
        }
        return ByHand(setup.source, lines, folder / VARIABLES, missing_files(setup))

    def _apply_line(self, folder: Path) -> tuple[str, ...]:
        return command_line(
            self._setup.program.argv,
            "apply",
            str(folder / PLAN),
            input="false",
            json=True,
            var_file=self._var_files(folder),
        )

    def _plan_line(self, folder: Path, options: PlanOptions) -> tuple[str, ...]:
        return command_line(
            self._setup.program.argv,
            "plan",
            *options.extra,
            input="false",
            json=True,
            detailed_exitcode=True,
            out=str(folder / PLAN),
            var_file=self._var_files(folder),
            destroy=options.destroy,
            target=options.targets,
            replace=options.replace,
            refresh=None if options.refresh else "false",
            refresh_only=options.refresh_only,
            lock_timeout=options.lock_timeout or None,
            lock=None if options.lock else "false",
        )

    def _var_files(self, folder: Path) -> list[str]:
        """The user's own in their order, then ours, which beats them."""
        return [*map(str, self._setup.module.var_files), str(folder / VARIABLES)]

    def _believe(self, told: Stream) -> None:
        """Take the engine's word for its version: a version manager may have started another one than we asked."""
        if told.version and (told.product, told.version) != (self._identity.product, self._identity.version):
            self._identity = EngineIdentity(told.product, told.version)
            programs.check(self._setup.module, self._setup.program, self._identity)


def _needs_init(told: Stream) -> bool:
    return any(error.summary.startswith(_NEEDS_INIT) for error in told.errors)


def _errored_state(source: Path, ended: Ended, told: Stream) -> bytes | None:
    """The state that this apply could not store; another module with the same folder may have left one, too."""
    file = source / ERRORED
    ours = ended.exit_code is None or any(ERRORED in error.detail for error in told.errors)
    if not ours or not file.is_file():
        return None
    file.chmod(0o600)
    return file.read_bytes()


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _to_terminal(data: bytes) -> None:
    with suppress(BrokenPipeError):  # who reads no more does not stop the engine
        os.write(sys.stdout.fileno(), data)
