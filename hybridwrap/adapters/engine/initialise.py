"""Initialises a module's data folder when that is due.

The rule it keeps: no state is ever migrated or lost sight of here. The engine never gets -migrate-state, -reconfigure
or -force-copy; where they would be needed, both places and the one command are named.
"""

from __future__ import annotations

import os
from pathlib import Path

from hybridwrap.adapters.engine.backend import local_file
from hybridwrap.adapters.engine.failure import failed
from hybridwrap.adapters.engine.file_locks import filling_cache, initialising_in
from hybridwrap.adapters.engine.initialised import cli_configuration, stamp_now, stamped, write_stamp
from hybridwrap.adapters.engine.locking import lock_command
from hybridwrap.adapters.engine.obstacles import forget_backend_without_state, refuse_errored, refuse_state_from_before
from hybridwrap.adapters.engine.process import Processes
from hybridwrap.adapters.engine.setup import Setup
from hybridwrap.adapters.engine.state_reader import StateReader
from hybridwrap.adapters.engine.streaming import ignore, open_private, stream
from hybridwrap.adapters.private_folders import make_private
from hybridwrap.adapters.source import GENERATED, LOCK_FILE, source_digest
from hybridwrap.domain.ports import OperationFolder
from hybridwrap.errors import PreflightRefused

OUTPUT = "init.jsonl"


def initialise(
    setup: Setup, folder: OperationFolder, processes: Processes, reader: StateReader, *, upgrade: bool = False
) -> bool:
    """Run `init` unless all that it depends on is as it was, or it is an upgrade; say whether it ran.

    Raise CommandFailed, or PreflightRefused when something is in the way.
    """
    refuse_errored(setup)
    source = source_digest(setup.source)  # before init: what is changed while it runs, it may not have seen
    if not upgrade and stamped(setup) == stamp_now(setup, source):
        return False
    with initialising_in(setup.source, setup.layout.home):
        _write_generated(setup)
        refuse_state_from_before(setup, reader)
        forget_backend_without_state(setup, reader)
        _make_folders(setup)
        configuration = cli_configuration(setup.env, setup.identity.product)
        with filling_cache(setup.env, configuration):
            _run(setup, folder, processes, upgrade=upgrade)
        write_stamp(setup, source)
    return True


def _make_folders(setup: Setup) -> None:
    """Make those of our home that the engine would make readable for everybody."""
    make_private(setup.data)
    settings = setup.backend.settings
    if setup.backend.type == "local" and settings is not None:
        states = Path(os.path.normpath(local_file(settings, setup.workspace, setup.source))).parent
        if setup.workspace != "default":  # with a folder of its own the workspace would exist
            states = states.parent
        if states.is_relative_to(setup.layout.home):
            make_private(states)


def _run(setup: Setup, folder: OperationFolder, processes: Processes, *, upgrade: bool) -> None:
    output = folder.path / OUTPUT
    locked = setup.in_ci and not upgrade and (setup.source / LOCK_FILE).is_file()
    line = setup.init_line(input="false", json=True, lockfile="readonly" if locked else False, upgrade=upgrade)
    command = setup.outside_workspace(line)
    ended, told = stream(processes, command, output, open_private(output, "w"), ignore)
    if ended.exit_code != 0:
        raise failed(setup, "init", ended, told, folder.path, lock_command(setup, processes, told))


def missing_files(setup: Setup) -> dict[Path, str]:
    """The generated file with its content, unless it is there already."""
    file, wanted = setup.source / GENERATED, setup.backend.generated
    there = file.read_bytes() if file.exists() else None
    return {} if wanted is None or there == wanted else {file: wanted.decode()}


def _write_generated(setup: Setup) -> None:
    """Make the generated file what it must be; other environments and modules of the same folder use it, too."""
    file = setup.source / GENERATED
    wanted = setup.backend.generated
    try:
        if (file.read_bytes() if file.exists() else None) != wanted:
            _put(file, wanted)
    except OSError as error:
        text = f"commit this as {file}:\n{wanted.decode()}" if wanted else f"remove {file}"
        raise PreflightRefused(
            f'the backend block of module "{setup.module.name}" must be in {file}, which can\'t be written: '
            f"{error.strerror}",
            hint=text,
        ) from error


def _put(file: Path, content: bytes | None) -> None:
    if content is None:
        file.unlink()  # the module has got a block of its own, which this file would override
        return
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    fresh.write_bytes(content)
    fresh.replace(file)
