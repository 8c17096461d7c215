"""Errors at the lines of a pull request: as workflow commands, which GitHub's runner reads off a job's log."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from hybridwrap.cli.scene import Scene
from hybridwrap.domain.engine_run import Diagnostic, telling
from hybridwrap.domain.run import ModuleEnd

SHOWN = 10  # errors of one step: GitHub drops the rest


def workflow_commands(ends: Mapping[str, ModuleEnd], scene: Scene, environ: Mapping[str, str]) -> Iterator[str]:
    """One line for each error of the engine; none outside GitHub Actions."""
    if environ.get("GITHUB_ACTIONS") != "true":
        return
    found = [(module, error) for module, end in ends.items() for error in telling(end.errors)]
    for module, error in found[:SHOWN]:
        yield _command(module, error, scene, environ)
    if len(found) > SHOWN:
        yield f"::notice::{data(f'{len(found) - SHOWN} more errors: in the log')}"


def _command(module: str, error: Diagnostic, scene: Scene, environ: Mapping[str, str]) -> str:
    where = {"title": f"{module}: {error.summary}"}
    declared = scene.declared.get(module)
    if error.file and declared:
        top = environ.get("GITHUB_WORKSPACE") or scene.root
        where = {"file": Path(os.path.relpath(declared.source / error.file, top)).as_posix(), **where}
        if error.line:
            where["line"] = str(error.line)
    said = ",".join(f"{name}={setting(value)}" for name, value in where.items())
    told = ": ".join(filter(None, [error.address, error.summary]))
    text = f"{told}\n{error.detail}".strip()
    return f"::error {said}::{data(text)}"


def data(text: str) -> str:
    """Escaped as the runner reads it (actions/toolkit, packages/core/src/command.ts)."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def setting(text: str) -> str:
    return data(text).replace(":", "%3A").replace(",", "%2C")
