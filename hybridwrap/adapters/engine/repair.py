"""What repairs do with an engine: put a state back, import objects, tell the names of what was planned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from io import FileIO
from pathlib import Path

from hybridwrap.adapters.engine.arguments import command_line
from hybridwrap.adapters.engine.obstacles import ERRORED
from hybridwrap.adapters.engine.planned_names import names_in
from hybridwrap.adapters.engine.process import Processes
from hybridwrap.adapters.engine.setup import Setup
from hybridwrap.adapters.engine.state_reader import StateReader
from hybridwrap.adapters.engine.state_writer import StateWriter
from hybridwrap.adapters.engine.streaming import STDERR, open_private, write_private
from hybridwrap.adapters.operation_folder import PLAN, VARIABLES
from hybridwrap.adapters.state_file import parse_state
from hybridwrap.domain.engine_run import Ended
from hybridwrap.domain.entry import CloudObject, StateMark
from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.ports import OperationFolder
from hybridwrap.domain.repair import Imported
from hybridwrap.domain.state import EngineState

Settings = Mapping[str, Json] | None


class ModuleRepair:
    def __init__(
        self, setup: Setup, processes: Processes, reader: StateReader, settings: Callable[[], Settings]
    ) -> None:
        self._setup = setup
        self._processes = processes
        self._writer = StateWriter(processes, reader)
        self._settings = settings

    def parse(self, data: bytes) -> EngineState:
        return parse_state(data)

    def unsaved_state(self) -> bytes | None:
        file = self._setup.source / ERRORED
        if not file.is_file():
            return None
        file.chmod(0o600)
        return file.read_bytes()

    def forget_unsaved_state(self, data: bytes) -> None:
        if self.unsaved_state() == data:
            (self._setup.source / ERRORED).unlink()

    def put_back(self, kept: Path, over: StateMark) -> None:
        self._writer.put_back(self._setup, self._settings(), kept, over)

    def planned_names(self, folder: OperationFolder) -> Mapping[str, str]:
        plan = folder.path / PLAN
        if not plan.exists():
            return {}
        ended, document, _ = self._processes.capture(
            self._setup.command(command_line(self._setup.program.argv, "show", str(plan), json=True))
        )
        return names_in(document) if ended.exit_code == 0 else {}

    def import_objects(
        self, folder: OperationFolder, objects: Sequence[CloudObject], inputs: Mapping[str, Json]
    ) -> tuple[Imported, ...]:
        variables = folder.path / VARIABLES
        write_private(variables, canonical(inputs))
        done: list[Imported] = []
        with _locked(folder) as stdout, open_private(folder.path / STDERR, "a+") as stderr:
            for o in objects:
                if any(imported.ended.interrupts for imported in done):
                    break
                done.append(self._import(o, variables, stdout, stderr))
        return tuple(done)

    def remove_from_state(self, folder: OperationFolder, addresses: Sequence[str]) -> tuple[Ended, str]:
        argv = command_line(self._setup.program.argv, "state rm", "--", *addresses)
        with _locked(folder) as stdout, open_private(folder.path / STDERR, "a+") as stderr:
            return self._run(argv, stdout, stderr)

    def _import(self, o: CloudObject, variables: Path, stdout: FileIO, stderr: FileIO) -> Imported:
        files = [*map(str, self._setup.module.var_files), str(variables)]
        argv = command_line(
            self._setup.program.argv, "import", "--", o.address, o.id, input="false", no_color=True, var_file=files
        )
        return Imported(o, *self._run(argv, stdout, stderr))

    def _run(self, argv: tuple[str, ...], stdout: FileIO, stderr: FileIO) -> tuple[Ended, str]:
        """Run a command; return with its end what it said on stderr, if it did not end well."""
        before = stderr.seek(0, 2)
        process = self._processes.start(self._setup.command(argv), stdout=stdout.fileno(), stderr=stderr.fileno())
        ended = self._processes.finish(process)
        stderr.seek(before)
        return ended, "" if _well(ended) else " ".join(stderr.read().decode(errors="replace").split())


def _locked(folder: OperationFolder) -> FileIO:
    """The folder's locked event file, to be an engine's stdout."""
    lock = folder.hand_over()
    if lock is None:
        raise ValueError(f"{folder.path} must be locked before the engine may change anything")
    return FileIO(lock, "a")


def _well(ended: Ended) -> bool:
    return ended.exit_code == 0
