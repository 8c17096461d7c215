"""Two ways to let an engine find the provider: a long-lived one for many engines, or a real plugin in a mirror."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.fakecloud import SOURCE, VERSION
from tests.support.fakecloud.cloud import Cloud
from tests.support.processes import VARIABLE

_REPOSITORY = Path(__file__).parents[3]
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


class SharedProvider:
    """One provider process for many engines, eight times faster than a plugin each.

    A fault `crash` takes it down for every engine that uses it; the next `environment` starts it again.
    """

    def __init__(self, word: str) -> None:
        self._word = word  # of the session: it outlives the test that starts it
        self._folder = Path(tempfile.mkdtemp(prefix="fakecloud-"))  # short: a socket's path may have 107 characters
        self._link = self._folder / "cloud.db"
        self._process: subprocess.Popen[str] | None = None
        self._attach = ""

    def environment(self, cloud: Cloud) -> dict[str, str]:
        """Point the provider to a cloud, and say what the engine's environment needs.

        A call that still hangs keeps the cloud that it began with.
        """
        fresh = self._folder / "next"
        fresh.symlink_to(cloud.path.resolve())
        fresh.replace(self._link)
        if self._process is None or self._process.poll() is not None:
            self._start()
        return {"TF_REATTACH_PROVIDERS": self._attach}

    def close(self) -> None:
        if self._process is not None:
            self._process.communicate()  # the end of its standard input ends it
        shutil.rmtree(self._folder)

    def _start(self) -> None:
        socket = self._folder / "provider"
        socket.unlink(missing_ok=True)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.fakecloud", "--reattach", str(socket)],
            cwd=_REPOSITORY,
            env={**os.environ, "FAKECLOUD_DB": str(self._link), VARIABLE: self._word},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self._attach = self._process.stdout.readline().strip()
        assert self._attach, "the provider of the fake cloud did not start"


def mirror_environment(folder: Path, cloud: Cloud) -> dict[str, str]:
    """Write a provider mirror and a CLI configuration: each engine then starts a plugin process of its own."""
    target = folder / "mirror" / SOURCE / VERSION / platform_name()
    target.mkdir(parents=True)
    script = target / f"terraform-provider-fakecloud_v{VERSION}"
    start = shlex.join([sys.executable, "-m", "tests.support.fakecloud"])
    script.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(_REPOSITORY))} exec {start} "$@"\n')
    script.chmod(0o755)
    configuration = folder / "terraform.rc"
    write_mirror_configuration(configuration, SOURCE)
    return {"TF_CLI_CONFIG_FILE": str(configuration), "FAKECLOUD_DB": str(cloud.path)}


def write_mirror_configuration(file: Path, source: str) -> None:
    """Write a CLI configuration that takes one provider from the folder `mirror` beside it and asks no registry."""
    file.write_text(
        f"""provider_installation {{
  filesystem_mirror {{
    path    = "{file.with_name("mirror")}"
    include = ["{source}"]
  }}
}}
"""
    )


def platform_name() -> str:
    """This machine in the engine's words: `linux_amd64`."""
    machine = platform.machine()
    return f"{platform.system().lower()}_{_MACHINES.get(machine, machine)}"
