"""A project folder with a manifest, and the real hybridwrap, run in it as a person would."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from hybridwrap.adapters.folder_store import FolderStore
from hybridwrap.cli.main import main
from hybridwrap.domain.ledger import Ledger
from tests.support.fakecloud import SOURCE
from tests.support.ledgers import FakeClock, Ids, writer

FAKECLOUD = f'terraform {{\n  required_providers {{\n    fakecloud = {{ source = "{SOURCE}" }}\n  }}\n}}\n'


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return self.out + self.err

    @property
    def json(self) -> Any:
        assert self.out, f"exit code {self.code}: {self.err}"
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """Stdout as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass
class Project:
    root: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    program: Sequence[str] = (sys.executable, "-m", "hybridwrap")

    def write(self, manifest: str, **sources: str) -> None:
        """Write the manifest, and a `main.tf` for each module."""
        (self.root / "hybridwrap.yaml").write_text(manifest)
        for name, text in sources.items():
            folder = self.root / name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "main.tf").write_text(text)

    @property
    def env(self) -> dict[str, str]:
        outside = {name: value for name, value in os.environ.items() if not name.startswith(("TF_", "HYBRIDWRAP_"))}
        return {**outside, "TF_CLI_CONFIG_FILE": os.devnull, **self.environ}

    def start(self, *argv: str, **environ: str) -> subprocess.Popen[str]:
        """Start hybridwrap in a session of its own; end it by `wait`, or by a signal to its pid."""
        return subprocess.Popen(
            [*self.program, *argv],
            cwd=self.root,
            env={**self.env, **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *argv: str, **environ: str) -> Ran:
        """Run hybridwrap to its end."""
        return wait(self.start(*argv, **environ))

    def call(self, *argv: str, **environ: str) -> Ran:
        """Run a command in this process, which takes a fraction of the time; for those that run no engine.

        The folder and the environment of the whole process change meanwhile: no other thread may mind.
        """
        with chdir(self.root):
            ran = CliRunner(env={**dict.fromkeys(os.environ), **self.env, **environ}).invoke(main, argv)
        return Ran(ran.exit_code, ran.stdout, ran.stderr)

    def apply(self, *argv: str, **environ: str) -> Ran:
        return self.run("apply", "--auto-approve", *argv, **environ)

    def status(self) -> dict[str, dict[str, Any]]:
        """What `status --json` says, by module."""
        return {module["module"]: module for module in self.call("status", "--json").json["modules"]}

    def statuses(self) -> dict[str, str]:
        return {name: module["status"] for name, module in self.status().items()}

    def outputs(self) -> dict[str, dict[str, dict[str, Any]]]:
        """What `output --json` says, by module and name."""
        found: dict[str, dict[str, dict[str, Any]]] = self.call("output", "--json").json
        return found

    def ledger(self, stack: str = "shop", environment: str = "default") -> Ledger:
        """The project's ledger in a folder, past the command line."""
        store = FolderStore(self.root / ".hybridwrap" / "ledger")
        return Ledger(store, stack, environment, writer(), FakeClock(), Ids())


def seconds_to_plan(project: Project, *modules: str) -> int:
    """Plan, and say a time in which this machine can do that again for certain, whatever else it has to do."""
    began = time.monotonic()
    ran = project.run("plan", *modules)
    assert ran.code == 0, ran.text
    return 5 + ceil(5 * (time.monotonic() - began))


def wait(process: subprocess.Popen[str], *, seconds: float = 300) -> Ran:
    out, err = process.communicate(timeout=seconds)
    return Ran(process.returncode, out, err)


def interrupt(process: subprocess.Popen[str], number: signal.Signals = signal.SIGINT) -> None:
    process.send_signal(number)
