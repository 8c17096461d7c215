"""Puts a state that an engine could not save back in its place; the only one here who writes a state.

Keeps: only over what it was compared with. A push makes a lineage of its own where there was no state, and an encrypted
state can't be pushed: in both cases the bytes themselves are put there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from hybridwrap.adapters.engine.arguments import command_line
from hybridwrap.adapters.engine.backend import local_file, object_key
from hybridwrap.adapters.engine.process import Processes
from hybridwrap.adapters.engine.setup import Setup
from hybridwrap.adapters.engine.state_reader import StateReader, readable_directly
from hybridwrap.adapters.private_folders import make_private
from hybridwrap.adapters.state_file import parse_state
from hybridwrap.adapters.whole_file import write_beside
from hybridwrap.domain.entry import StateMark
from hybridwrap.domain.json import Json
from hybridwrap.errors import OutcomeUnknown


class StateWriter:
    def __init__(self, processes: Processes, reader: StateReader) -> None:
        self._processes = processes
        self._reader = reader

    def put_back(self, setup: Setup, settings: Mapping[str, Json] | None, kept: Path, over: StateMark) -> None:
        """Put the state in the file `kept` in its place, over the state `over`. Raise OutcomeUnknown."""
        there = self._reader.read(setup, settings)
        _must_be(over, there, setup)
        direct = settings is not None and readable_directly(setup, settings)
        data = kept.read_bytes()
        if settings is None or not direct or (there and parse_state(data, str(kept)).readable):
            self._push(setup, kept)
        elif setup.backend.type == "s3":
            self._reader.s3.put(settings, object_key(settings, setup.workspace), setup.env, data, over=there)
        else:
            _put_file(local_file(settings, setup.workspace, setup.source), data, over=there)

    def _push(self, setup: Setup, kept: Path) -> None:
        ended, _, stderr = self._processes.capture(
            setup.command(command_line(setup.program.argv, "state push", str(kept)))
        )
        if ended.exit_code != 0:
            told = " ".join(stderr[-1_000:].decode(errors="replace").split())
            raise OutcomeUnknown(f"the state of {setup.module.name} could not be pushed: {told}")


def _must_be(over: StateMark, there: bytes | None, setup: Setup) -> None:
    found = parse_state(there) if there is not None else None
    if ((found.lineage, found.serial) if found else ("", 0)) != (over.lineage, over.serial):
        raise OutcomeUnknown(
            f"the state of {setup.module.name} is another one than a moment ago: nothing was put there"
        )


def _put_file(file: Path, data: bytes, *, over: bytes | None) -> None:
    try:
        make_private(file.parent)
        fresh = write_beside(file, data, durably=True)
        try:
            if over is None:
                os.link(fresh, file)  # unlike a rename it fails when something is there
            else:
                fresh.replace(file)
        finally:
            fresh.unlink(missing_ok=True)
    except OSError as error:
        raise OutcomeUnknown(f"{file} can't be written: {error.strerror}") from error
