"""Reads a module's state where it lies, without an engine process where that is possible."""

from __future__ import annotations

from collections.abc import Mapping

from hybridwrap.adapters.engine import s3_state
from hybridwrap.adapters.engine.arguments import command_line
from hybridwrap.adapters.engine.backend import local_file, object_key
from hybridwrap.adapters.engine.process import Processes
from hybridwrap.adapters.engine.setup import Setup
from hybridwrap.adapters.engine.state_lock import StateLocks
from hybridwrap.adapters.state_file import parse_state
from hybridwrap.domain.json import Json
from hybridwrap.errors import OutcomeUnknown


class StateReader:
    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self.s3 = s3_state.S3States()
        self.locks = StateLocks(processes, self.s3)

    def read(self, setup: Setup, settings: Mapping[str, Json] | None) -> bytes | None:
        """The bytes of the state, None when there is none. Raise OutcomeUnknown.

        `settings` are those of the backend, None when only the engine can resolve them.
        """
        if settings is not None and readable_directly(setup, settings):
            return self.read_place(setup, settings)
        return self.pull(setup)

    def read_place(self, setup: Setup, settings: Mapping[str, Json]) -> bytes | None:
        """The same at any settings of a local or S3 backend."""
        if setup.backend.type == "s3":
            return self.s3.read(settings, object_key(settings, setup.workspace), setup.env)
        file = local_file(settings, setup.workspace, setup.source)
        try:
            return file.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise OutcomeUnknown(f"the state {file} can't be read: {error.strerror}") from error

    def pull(self, setup: Setup) -> bytes | None:
        """Have the engine read the state, and decrypt it."""
        argv = command_line(setup.program.argv, "state pull")
        ended, stdout, stderr = self._processes.capture(setup.command(argv))
        if ended.exit_code != 0:
            told = stderr[-1_000:].decode(errors="replace").strip()
            raise OutcomeUnknown(f"the state of {setup.module.name} can't be read: `state pull` failed: {told}")
        document = _document(stdout)
        return document if document and not _is_nothing(document) else None


def readable_directly(setup: Setup, settings: Mapping[str, Json]) -> bool:
    """Whether we can read it as the engine would."""
    return setup.backend.type == "local" or (setup.backend.type == "s3" and s3_state.understood(settings, setup.env))


def _is_nothing(document: bytes) -> bool:
    """Where there is no state, the engine pulls an empty one."""
    state = parse_state(document)
    return not state.lineage and not state.serial


def _document(stdout: bytes) -> bytes:
    """The JSON document in an output around which a version manager may have written lines of its own."""
    lines = stdout.split(b"\n")
    edges = [number for number, line in enumerate(lines) if line.startswith((b"{", b"}"))]
    return b"\n".join(lines[edges[0] : edges[-1] + 1]) if edges else stdout.strip()
