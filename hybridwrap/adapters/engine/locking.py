"""The dependency lock file of a module: checksums for more platforms, and what to type where they are missing."""

from __future__ import annotations

import re
from pathlib import Path

from hybridwrap.adapters.engine.arguments import command_line
from hybridwrap.adapters.engine.file_locks import initialising_in
from hybridwrap.adapters.engine.live_environment import LiveEnvironment
from hybridwrap.adapters.engine.process import Command, Processes
from hybridwrap.adapters.engine.setup import Setup
from hybridwrap.adapters.source import LOCK_FILE, lock_digest
from hybridwrap.domain.command_failed import CommandFailed
from hybridwrap.domain.engine_run import Stream
from hybridwrap.domain.lock_files import LockWish

_PLATFORM = re.compile(rb"^on ([a-z0-9]+_[a-z0-9]+)$", re.MULTILINE)  # in what `version` prints

# What `init` says when the lock file lacks a provider, or all checksums that fit this platform's package.
_READ_ONLY = "Provider dependency changes detected"
_CHECKSUMS = "match any of the checksums previously recorded in the dependency lock file"


def lock(setup: Setup, processes: Processes, wish: LockWish) -> bool:
    """Add what is wished to the lock file; say whether that changed it. Raise CommandFailed."""
    setup.data.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with initialising_in(setup.source, setup.layout.home):
        before = lock_digest(setup.source)
        _run(setup, processes, "get")  # without its child modules, the engine can't tell what a module needs
        _run(
            setup,
            processes,
            "providers lock",
            platform=list(wish.platforms),
            fs_mirror=wish.fs_mirror or None,
            net_mirror=wish.net_mirror or None,
        )
        if not before:
            _remove_empty(setup.source / LOCK_FILE)
        return lock_digest(setup.source) != before


def lock_command(setup: Setup, processes: Processes, told: Stream) -> str | None:
    """The command that adds what a failed `init` missed in the lock file, None when it failed for something else."""
    if not any(error.summary == _READ_ONLY or _CHECKSUMS in error.detail for error in told.errors):
        return None
    _, version, _ = processes.capture(_bare(setup, (*setup.program.argv, "version")))
    platform = _PLATFORM.search(version)
    named = f" --platform {platform[1].decode()}" if platform else ""
    return f"hybridwrap lock{named} {setup.module.name}"


def _remove_empty(file: Path) -> None:
    """Take back the file that the engine writes for a module that needs no provider."""
    if file.is_file() and "provider " not in file.read_text(encoding="utf-8"):
        file.unlink()


def _run(setup: Setup, processes: Processes, what: str, **options: str | list[str] | None) -> None:
    given = {name: value for name, value in options.items() if value is not None}
    ended, _, stderr = processes.capture(_bare(setup, command_line(setup.program.argv, what, no_color=True, **given)))
    if ended.exit_code != 0:
        how = f"was killed by signal {ended.signal}" if ended.signal else f"ended with exit code {ended.exit_code}"
        told = " ".join(stderr.decode(errors="replace").split())
        message = f"{what} of {setup.module.name} {how}\n  {told.removeprefix('Error: ')}"
        raise CommandFailed(message, ended=ended, stream=Stream())


def _bare(setup: Setup, argv: tuple[str, ...]) -> Command:
    """A command that needs no workspace and nobody's credentials."""
    env = setup.env.given if isinstance(setup.env, LiveEnvironment) else setup.env
    return Command(argv, Path(setup.source), {**env, "TF_WORKSPACE": "default"})
