"""The real engines of this machine, run raw: what they do without hybridwrap."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hybridwrap.adapters.engine import embedded


@dataclass(frozen=True, slots=True)
class RealEngine:
    name: str  # terraform, tofu, embedded
    argv: tuple[str, ...]

    @contextmanager
    def started(self, folder: Path, *args: str, env: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
        """Start a command in its own session, killed at the end if it still runs.

        Output goes to `stdout.txt` and `stderr.txt` in the folder.
        """
        with (folder / "stdout.txt").open("w") as stdout, (folder / "stderr.txt").open("w") as stderr:
            process = subprocess.Popen(
                [*self.argv, *args],
                cwd=folder,
                env=engine_environment(env),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                text=True,
                start_new_session=True,
            )
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def run(self, folder: Path, *args: str, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, whatever that is."""
        return subprocess.run(
            [*self.argv, *args],
            cwd=folder,
            env=engine_environment(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def must(self, folder: Path, *args: str, env: Mapping[str, str]) -> str:
        """Run a command that has to succeed; return what it printed."""
        ran = self.run(folder, *args, env=env)
        assert ran.returncode == 0, f"{self.name} {' '.join(args)}: {ran.stdout}{ran.stderr}"
        return ran.stdout


def engine_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without what would steer the engine, plus what the test wants."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TF_", "AWS_"))}
    return {**kept, "CHECKPOINT_DISABLE": "1", "TF_CLI_CONFIG_FILE": os.devnull, **extra}


def engines() -> dict[str, RealEngine | None]:
    """Every engine by name; None for one that is not on this machine."""
    found: dict[str, RealEngine | None] = {}
    for name in ("terraform", "tofu"):
        program = shutil.which(name)
        found[name] = RealEngine(name, (program,)) if program else None
    entry = (sys.executable, "-P", embedded.__file__)
    found["embedded"] = RealEngine("embedded", entry) if embedded.library() else None
    return found
