"""What to say when a command of the engine failed."""

from __future__ import annotations

import os
from pathlib import Path

from hybridwrap.adapters.engine.setup import Setup
from hybridwrap.adapters.engine.streaming import STDERR
from hybridwrap.domain.command_failed import CommandFailed
from hybridwrap.domain.engine_run import Diagnostic, Ended, Stream

CHANGING = ("add", "change", "remove")
_TAIL = 2_000  # bytes of stderr that are shown when there is no diagnostic


def failed(
    setup: Setup, what: str, ended: Ended, stream: Stream, folder: Path, hint: str | None = None
) -> CommandFailed:
    """Describe the failure by the diagnostics, else by the end of stderr."""
    told = [_line(setup, d) for d in stream.errors] or [_end_of(folder / STDERR)]
    how = f"was killed by signal {ended.signal}" if ended.signal else f"ended with exit code {ended.exit_code}"
    message = "\n  ".join([f"{what} of {setup.module.name} {how}", *filter(None, told)])
    return CommandFailed(message, ended=ended, stream=stream, hint=hint)


def _end_of(file: Path) -> str:
    with file.open("rb") as reader:
        reader.seek(max(file.stat().st_size - _TAIL, 0))
        return reader.read().decode(errors="replace").strip()


def _line(setup: Setup, diagnostic: Diagnostic) -> str:
    place = ""
    if diagnostic.file:
        file = os.path.relpath(setup.source / diagnostic.file, setup.layout.root)
        place = f"{file}:{diagnostic.line}  " if diagnostic.line else f"{file}  "
    address = f"{diagnostic.address}: " if diagnostic.address else ""
    detail = diagnostic.detail.strip().partition("\n\n")[0].replace("\n", " ")
    return f"{place}{address}{diagnostic.summary}" + (f": {detail}" if detail else "")


def refuse_contradiction(setup: Setup, ended: Ended, told: Stream) -> None:
    """Believe no plan by its exit code alone: `terraform "$@" | tee log` in a script makes it 0 whatever happened.

    Each engine sums up each plan, an empty one too. Raise CommandFailed.
    """
    summary = next((each for each in told.summaries if each.operation == "plan"), None)
    if summary is None:
        said = "its events tell of no plan"
    elif ended.exit_code == 0 and any(map(summary.count, CHANGING)):
        said = "its events tell of changes"
    else:
        return
    raise CommandFailed(
        f"plan of {setup.module.name} ended with exit code {ended.exit_code}, but {said}: "
        f"{setup.program.argv[0]} may be a script that loses the engine's exit code or output",
        ended=ended,
        stream=told,
        hint="name the binary itself in the manifest: engine: {program: PATH}",
    )
