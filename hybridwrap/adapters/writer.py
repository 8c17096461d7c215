"""Who we are: what every entry of the ledger says about its writer."""

from __future__ import annotations

import getpass
import os
import subprocess
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from hybridwrap import __version__
from hybridwrap.adapters.ci_jobs import this_job
from hybridwrap.domain.entry import Writer

_LINUX_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_MACOS_BOOT_ID = ("/usr/sbin/sysctl", "-n", "kern.bootsessionuuid")

# Each row is the address of the running job as one CI system spells it; the first whose variables are all set wins.
_CI_JOBS = (
    "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}/attempts/{GITHUB_RUN_ATTEMPT}",
    "{CI_JOB_URL}",  # GitLab
    "{BUILDKITE_BUILD_URL}#{BUILDKITE_JOB_ID}",
    "{CIRCLE_BUILD_URL}",
    "{SYSTEM_COLLECTIONURI}{SYSTEM_TEAMPROJECT}/_build/results?buildId={BUILD_BUILDID}",  # Azure Pipelines
    "{CODEBUILD_BUILD_URL}",
    "https://bitbucket.org/{BITBUCKET_REPO_FULL_NAME}/pipelines/results/{BITBUCKET_BUILD_NUMBER}",
    "{TRAVIS_JOB_WEB_URL}",
    "{DRONE_BUILD_LINK}",
    "{CI_PIPELINE_URL}",  # Woodpecker
    "{BUILD_URL}",  # Jenkins
)


def this_writer(environ: Mapping[str, str], started: datetime) -> Writer:
    """Describe this process; `started` is when it began."""
    return Writer(
        user=_user(environ),
        host=os.uname().nodename,
        boot=boot_id(),
        pid=os.getpid(),
        started=started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        version=__version__,
        ci_url=ci_job(environ),
        ci=this_job(environ),
    )


def ci_job(environ: Mapping[str, str]) -> str:
    """The address of the CI job that we run in, "" when there is none."""
    known = {name: value for name, value in environ.items() if value}
    for row in _CI_JOBS:
        try:
            return row.format_map(known)
        except KeyError:
            continue
    return ""


def boot_id() -> str:
    """An id that changes whenever this host boots."""
    if _LINUX_BOOT_ID.exists():
        return _LINUX_BOOT_ID.read_text(encoding="ascii").strip()
    return subprocess.run(_MACOS_BOOT_ID, capture_output=True, text=True, check=True).stdout.strip()


def _user(environ: Mapping[str, str]) -> str:
    try:
        return environ.get("SUDO_USER") or getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return str(os.getuid())
