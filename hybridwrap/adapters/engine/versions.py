"""What a program says that it is; remembered on disk as long as the file is the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock

from hybridwrap.adapters.engine.process import Command, Processes
from hybridwrap.adapters.engine.programs import Program
from hybridwrap.adapters.whole_file import put_whole
from hybridwrap.domain.entry import EngineIdentity
from hybridwrap.domain.json import Json, canonical, loads
from hybridwrap.errors import EngineNotUsable

# a line of its own: version managers and setup actions print others around it
_SAYS = re.compile(rb"^(Terraform|OpenTofu) v(\d\S*)\s*$", re.MULTILINE)


class Versions:
    """Asks each program once."""

    def __init__(self, cache: Path, processes: Processes) -> None:
        self._cache = cache
        self._processes = processes
        self._known: dict[tuple[str, str], EngineIdentity] = {}
        self._lock = Lock()

    def identify(self, program: Program, env: Mapping[str, str], folder: Path) -> EngineIdentity:
        """Say what the program is when it is called in a folder. Raise EngineNotUsable when it does not tell.

        A script may be a version manager, which chooses by folder and environment: it is asked anew in each.
        """
        script = program.is_script
        key = (str(program.file), str(folder) if script else "")
        with self._lock:
            if key not in self._known:
                found = None if script else self._remembered(program)
                self._known[key] = found or self._ask(program, env, folder, remember=not script)
            return self._known[key]

    def _remembered(self, program: Program) -> EngineIdentity | None:
        match _read(self._cache).get(str(program.file)):
            case [product, version, *seen] if seen == _look(program.file):
                return EngineIdentity(str(product), str(version))
        return None

    def _ask(self, program: Program, env: Mapping[str, str], folder: Path, *, remember: bool) -> EngineIdentity:
        seen = _look(program.file)
        ended, stdout, stderr = self._processes.capture(Command((*program.argv, "version"), folder, env))
        found = _SAYS.search(stdout)
        if not found:
            told = (stdout + stderr)[:500].decode(errors="replace").strip() or f"exit code {ended.exit_code}"
            raise EngineNotUsable(
                f"{program} does not say that it is Terraform or OpenTofu; `version` gave: {told}",
                hint="name the program itself in the manifest: engine: {program: PATH}",
            )
        identity = EngineIdentity(found[1].decode().lower(), found[2].decode())
        if remember:
            self._remember(program, [identity.product, identity.version, *seen])
        return identity

    def _remember(self, program: Program, entry: Json) -> None:
        with suppress(OSError):  # a cache that can't be written costs time and nothing else
            self._cache.parent.mkdir(mode=0o700, exist_ok=True)  # not the home: it is made by those who write
            put_whole(self._cache, canonical({**_read(self._cache), str(program.file): entry}))


def _look(file: Path) -> list[int]:
    seen = file.stat()
    return [seen.st_size, seen.st_mtime_ns]


def _read(cache: Path) -> dict[str, Json]:
    try:
        known = loads(cache.read_bytes())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
