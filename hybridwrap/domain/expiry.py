"""When keys from outside end, and whether that is too soon for a run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from hybridwrap.domain.duration import in_words
from hybridwrap.domain.stack import Module

KEYS = "AWS_ACCESS_KEY_ID"
# Set by `aws configure export-credentials --format env` and aws-vault, read by botocore:
# https://docs.aws.amazon.com/cli/latest/reference/configure/export-credentials.html
EXPIRATION = "AWS_CREDENTIAL_EXPIRATION"
SOON_SECONDS = 15 * 60.0  # there is hardly a run without an approval or a resource that takes some minutes


def end_of_keys(environ: Mapping[str, str]) -> datetime | None:
    """Say when the AWS keys in an environment end; None where there are none, or nobody says."""
    if not environ.get(KEYS):
        return None
    try:
        moment = datetime.fromisoformat(environ.get(EXPIRATION, ""))
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def uses_them(module: Module) -> bool:
    """Whether a module's engine acts with the keys of the caller's environment for as long as it works."""
    return not module.credentials.command and KEYS not in module.env


def too_soon(end: datetime, now: datetime, usual_seconds: float) -> str:
    """Say that keys end while a run is at work that usually takes so long, 0 for nobody knows; "" if they hold."""
    left = (end - now).total_seconds()
    if left >= max(SOON_SECONDS, usual_seconds):
        return ""
    when = f"end in {in_words(_whole(left))}" if left > 0 else "have ended"
    takes = f", and this takes {in_words(_whole(usual_seconds))} as a rule" if usual_seconds > left > 0 else ""
    return f"the AWS keys in the environment {when} ({EXPIRATION}={end.isoformat()}){takes}"


def _whole(seconds: float) -> int:
    """Whole minutes where there are any."""
    return int(seconds // 60) * 60 if seconds >= 60 else int(seconds)  # noqa: PLR2004
