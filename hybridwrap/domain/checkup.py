"""What a look at a machine, its engines and a stack's places found: one finding for each thing that was looked at."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from hybridwrap.errors import LedgerUnreachable, PreflightRefused, gravest

UNREACHABLE = LedgerUnreachable.exit_code
NOT_READY = PreflightRefused.exit_code


class Verdict(StrEnum):
    OK = "ok"
    WARNING = "warning"  # it works, and will hurt one day
    PROBLEM = "problem"  # something does not work


class Finding(Struct, frozen=True):
    """`exit_code` is that of the command that would meet the problem."""

    subject: str
    verdict: Verdict
    text: str
    fix: str = ""
    exit_code: int = 0


def ok(subject: str, text: str) -> Finding:
    return Finding(subject, Verdict.OK, text)


def warning(subject: str, text: str, fix: str) -> Finding:
    return Finding(subject, Verdict.WARNING, text, fix)


def problem(subject: str, text: str, fix: str, exit_code: int = NOT_READY) -> Finding:
    return Finding(subject, Verdict.PROBLEM, text, fix, exit_code)


def exit_code_of(findings: Iterable[Finding]) -> int:
    """0 when nothing is a problem, else the gravest."""
    return gravest([finding.exit_code for finding in findings])
