"""Whether the wished workspace exists: an engine whose environment names a missing one makes it."""

from __future__ import annotations

from hybridwrap.adapters.engine.arguments import command_line
from hybridwrap.adapters.engine.backend import local_file
from hybridwrap.adapters.engine.initialised import current_settings
from hybridwrap.adapters.engine.process import Processes
from hybridwrap.adapters.engine.setup import Setup
from hybridwrap.adapters.engine.state_reader import StateReader, readable_directly
from hybridwrap.errors import PreflightRefused


def refuse_missing_workspace(setup: Setup, processes: Processes, reader: StateReader) -> None:
    """Raise PreflightRefused when the module's workspace does not exist."""
    if setup.workspace != "default" and not _exists(setup, processes, reader):
        raise PreflightRefused(
            f'workspace {setup.workspace!r} of module "{setup.module.name}" does not exist',
            hint=f"hybridwrap tf {setup.module.name} -- workspace new {setup.workspace}",
        )


def _exists(setup: Setup, processes: Processes, reader: StateReader) -> bool:
    settings = current_settings(setup)
    if settings is None or not readable_directly(setup, settings):
        listing = setup.outside_workspace(command_line(setup.program.argv, "workspace list"))
        _, listed, _ = processes.capture(listing)
        return setup.workspace.encode() in listed.replace(b"*", b" ").split()
    if setup.backend.type == "local":
        return local_file(settings, setup.workspace, setup.source).parent.is_dir()
    return reader.read_place(setup, settings) is not None
