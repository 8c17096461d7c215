"""The demo's stage: a folder with the stack, and commands that are shown, run and checked."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from demo.s3_server import HOST, REGION, S3Server, s3_server

REPOSITORY = Path(__file__).parents[1]
BUCKET = "demo"
STEERING = ("AWS_", "HYBRIDWRAP_", "TF_")  # variables of the caller that would change what is shown


class Unexpected(Exception):
    """A step of the demo did not do what it should."""


@dataclass(frozen=True, slots=True)
class Stage:
    folder: Path
    environment: Mapping[str, str]
    console: Console

    def say(self, text: str) -> None:
        self.console.print(f"\n{text}", style="bold", highlight=False, soft_wrap=True)

    def hybridwrap(self, *arguments: str, exit_code: int = 0) -> None:
        """Show a command, run it, and raise Unexpected unless it ends with the exit code."""
        self._run([sys.executable, "-m", "hybridwrap", *arguments], " ".join(("hybridwrap", *arguments)), exit_code)

    def list_cloud(self) -> None:
        self._run(["ls", "cloud"], "ls cloud", 0)

    def delete_by_hand(self, name: str) -> None:
        """Delete the one object of a name, as somebody would in the cloud's console."""
        (file,) = (self.folder / "cloud").glob(f"{name}-*.json")
        command = ["python3", "modules/cloud/cloud.py", "cloud", "delete", file.stem]
        self._run(command, " ".join(command), 0)

    def _run(self, command: list[str], shown: str, exit_code: int) -> None:
        self.console.print(f"\n$ {shown}", style="cyan", highlight=False, markup=False, soft_wrap=True)
        # In a session of its own: on Ctrl-C it gets one signal, from here.
        process = subprocess.Popen(command, cwd=self.folder, env=self.environment, start_new_session=True)
        try:
            ended = process.wait()
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            process.send_signal(signal.SIGINT)
            process.wait()
            raise
        if ended != exit_code:
            raise Unexpected(f"`{shown}` ended with exit code {ended}, expected {exit_code}")

    def expect(self, **statuses: str) -> None:
        """Raise Unexpected unless `status --json` says these."""
        found = {each["module"]: each["status"] for each in self._read("status", "--json")["modules"]}
        if found != statuses:
            raise Unexpected(f"the modules stand at {found}, expected {statuses}")

    def expect_known(self, module: str, output: str) -> None:
        found = self._read("output", "--json")[module][output]["provenance"]
        if found != "known":
            raise Unexpected(f"{module}.{output} is {found}, expected known")

    def _read(self, *arguments: str) -> Any:
        command = [sys.executable, "-m", "hybridwrap", *arguments]
        answer = subprocess.run(command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, check=True)
        return json.loads(answer.stdout)

    def want_release(self, release: str) -> None:
        manifest = self.folder / "hybridwrap.yaml"
        manifest.write_text(manifest.read_text().replace('release: "1.0"', f'release: "{release}"'))

    def break_cloud(self, name: str, word: str) -> None:
        faults = self.folder / "cloud" / "faults"
        faults.mkdir()
        (faults / name).write_text(word)

    def repair_cloud(self) -> None:
        shutil.rmtree(self.folder / "cloud" / "faults")


@contextmanager
def stage(console: Console) -> Iterator[Stage]:
    """Set up folder, stack and server, and remove all of it at the end, however it comes."""
    with TemporaryDirectory(prefix="hybridwrap-demo-", ignore_cleanup_errors=True) as temporary:
        data, folder = Path(temporary, "s3"), Path(temporary, "stack")
        data.mkdir()
        shutil.copytree(
            REPOSITORY / "modules",
            folder / "modules",
            ignore=shutil.ignore_patterns(".*", "tests", "*_override.tf.json"),
        )
        shutil.copy(REPOSITORY / "demo" / "hybridwrap.yaml", folder)
        console.print("Starting an S3 server …", style="dim", highlight=False)
        with s3_server(data, BUCKET) as server:
            console.print(f"S3 server at {server.endpoint}", style="dim", highlight=False)
            yield Stage(folder, _environment(server), console)


def _environment(server: S3Server) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(STEERING)}
    programs = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", os.defpath)])
    return {
        **kept,
        "PATH": programs,  # the modules call python3
        "NO_PROXY": HOST,
        "no_proxy": HOST,
        "AWS_ACCESS_KEY_ID": server.access_key,
        "AWS_SECRET_ACCESS_KEY": server.secret_key,
        "AWS_ENDPOINT_URL_S3": server.endpoint,
        "AWS_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
