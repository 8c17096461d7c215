"""CI systems: whether one runs this, which job of it, and what it says of another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct


def in_ci(environ: Mapping[str, str]) -> bool:
    """Whether `CI` is set, as CI systems do, to something other than no."""
    return environ.get("CI", "").lower() not in {"", "0", "false"}


class CiJob(Struct, frozen=True):
    """A job, so that its CI system can be asked about it from elsewhere."""

    system: str  # github, gitlab
    api: str  # the address of the system's interface
    project: str  # owner/name; a number
    run: str  # of a workflow, or a pipeline
    attempt: str = ""
    job: str = ""  # its number, where the job knows it
    runner: str = ""  # the name of the machine that the job runs on
    thrown_away: bool = False  # the machine is thrown away after the job


class CiAnswer(Struct, frozen=True):
    """What a CI system says of a job: only `ended` counts for something."""

    told: str  # for people
    ended: bool = False
    at: str = ""  # when it ended; RFC 3339, "" when it does not say


class CiSystem(Protocol):
    def ask(self, job: CiJob) -> CiAnswer:
        """Ask whether a job has ended. What can't be asked, and any answer that is not understood, is not ended."""


class NoCi:
    """Knows nobody to ask."""

    def ask(self, _job: CiJob) -> CiAnswer:
        return CiAnswer("there is no CI system to ask")
