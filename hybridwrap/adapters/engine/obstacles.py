"""What must not lie in the way of an `init` or a plan, as both would do harm to a state that is there."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from hybridwrap.adapters.engine.backend import local_file
from hybridwrap.adapters.engine.initialised import backend_digest, forget_backend, recorded_settings, stamped
from hybridwrap.adapters.engine.layout import relative
from hybridwrap.adapters.engine.setup import Setup
from hybridwrap.adapters.engine.state_reader import StateReader, readable_directly
from hybridwrap.adapters.private_folders import make_private
from hybridwrap.adapters.state_file import worth_keeping
from hybridwrap.domain.json import Json
from hybridwrap.domain.state import StatePlace
from hybridwrap.errors import OutcomeUnknown, PreflightRefused

ERRORED = "errored.tfstate"


def refuse_errored(setup: Setup) -> None:
    """Raise PreflightRefused when the engine has once left a state that it could not store.

    Nothing may be planned before that state is back in its place: a plan would not see what was made.
    """
    file = setup.source / ERRORED
    if file.exists():
        raise PreflightRefused(
            f"{_shown(setup, file)} lies there: an earlier apply could not store its state, and left it in this file",
            hint=f"hybridwrap reconcile {setup.module.name}",
        )


def refuse_state_from_before(setup: Setup, reader: StateReader) -> None:
    """Raise PreflightRefused when a state lies in the module's folder that we would not use, and none where we look."""
    settings = setup.backend.settings
    before = local_file({}, setup.workspace, setup.source)
    if settings is None or not worth_keeping(before):
        return
    place = setup.place(settings)
    if place == _place_of_file(setup, before) or _has_state(setup, settings, reader):
        return
    raise PreflightRefused(
        f'module "{setup.module.name}" has a state in {_shown(setup, before)}, '
        f"but the manifest keeps it at {place}, where there is none; nothing is migrated by itself",
        hint=_migration(setup, settings, before),
    )


def forget_backend_without_state(setup: Setup, reader: StateReader) -> None:
    """Let the next init take new backend settings, if no state can be lost sight of by it.

    That is so when they mean the same place as before, or when there is no state at the place of before. Raise
    PreflightRefused otherwise.
    """
    before, now, stamp = recorded_settings(setup), setup.backend.settings, stamped(setup)
    if before is None or now is None or (stamp and stamp.backend == backend_digest(setup)):
        return
    if setup.place(before) != setup.place(now) and _has_state(setup, before, reader):
        raise PreflightRefused(
            f'the state of module "{setup.module.name}" lies at {setup.place(before)}, '
            f"but the manifest now says {setup.place(now)}; nothing is migrated by itself",
            hint=_migrate_by_engine(setup),
        )
    forget_backend(setup)


def _has_state(setup: Setup, settings: Mapping[str, Json], reader: StateReader) -> bool:
    """Whether there is a state at a place; where that can't be told, there may be one."""
    if not readable_directly(setup, settings):
        return True
    try:
        return bool(reader.read_place(setup, settings))
    except OutcomeUnknown:
        return True


def _place_of_file(setup: Setup, file: Path) -> StatePlace:
    return StatePlace("local", relative(file, setup.layout.root), workspace=setup.workspace)


def _migration(setup: Setup, settings: Mapping[str, Json], before: Path) -> str:
    """The one command that brings a state of before to its place."""
    if setup.backend.type != "local":
        return _migrate_by_engine(setup)
    target = local_file(settings, setup.workspace, setup.source)
    make_private(target.parent)
    return shlex.join(["mv", str(before), os.path.normpath(target)])


def _migrate_by_engine(setup: Setup) -> str:
    data = f"TF_DATA_DIR={setup.env['TF_DATA_DIR']}"
    return f"cd {shlex.quote(str(setup.source))} && {shlex.join(['env', data, *setup.init_line(migrate_state=True)])}"


def _shown(setup: Setup, file: Path) -> str:
    return relative(file, setup.layout.root)
