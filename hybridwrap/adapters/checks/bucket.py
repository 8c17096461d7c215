"""One bucket: whether it can be reached, as whom, how well the clocks agree, and whether it keeps old versions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from msgspec import Struct

from hybridwrap.adapters.s3_connection import S3Connection, S3Settings
from hybridwrap.adapters.s3_errors import CREDENTIALS, DENIED_CODES, Answer, way_out
from hybridwrap.domain.checkup import UNREACHABLE, Finding, ok, problem, warning
from hybridwrap.errors import LedgerUnreachable

SKEW_SECONDS, TOO_SKEWED_SECONDS = 60.0, 900.0
NOT_FOUND = 404


class Reached(Struct, frozen=True):
    """What a bucket's first answer said besides yes or no."""

    server_time: datetime | None
    region: str


def check_bucket(connection: S3Connection, settings: S3Settings, now: datetime) -> Iterator[Finding]:
    """Look at a bucket; nothing else of it needs to be asked when the last finding is a problem."""
    if not settings.endpoint:
        yield from _caller(connection)
    reached = reach(connection, settings)
    if isinstance(reached, Finding):
        yield reached
        return
    yield from _clock(reached.server_time, now)
    yield _region(connection, settings, reached)
    yield from _versions(connection, settings.bucket)


def reach(connection: S3Connection, settings: S3Settings) -> Reached | Finding:
    """Ask for the bucket itself; being refused is an answer, too."""
    from botocore.exceptions import BotoCoreError, ClientError

    subject, place = "bucket", f"s3://{settings.bucket}"
    try:
        response: Any = connection.often.head_bucket(Bucket=settings.bucket)
    except ClientError as error:
        response = error.response
        answer = Answer.of(error.response, "HeadBucket")
        if answer.status == NOT_FOUND:
            text = f"{place}: there is no such bucket"
            return problem(subject, text, "hybridwrap bootstrap    makes it; or correct the name", UNREACHABLE)
        if answer.status != 403 and not answer.region:  # noqa: PLR2004 - a refusal says nothing about the bucket
            return problem(subject, answer.explained(place, connection.region), "look at the endpoint", UNREACHABLE)
    except (BotoCoreError, LedgerUnreachable) as error:
        fix = CREDENTIALS if way_out(error) == CREDENTIALS else "look at network, endpoint, region and credentials"
        return problem(subject, f"{place}: {error}", fix, UNREACHABLE)
    headers = response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    return Reached(_time(headers.get("date", "")), headers.get("x-amz-bucket-region", ""))


def _time(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text).astimezone(UTC)
    except ValueError:
        return None


def _clock(server: datetime | None, now: datetime) -> Iterator[Finding]:
    if server is None:
        return
    skew = (now - server).total_seconds()
    told = f"this machine's is {abs(skew):.0f} s {'ahead of' if skew > 0 else 'behind'} the server's"
    fix = "set the clock by a time server (chrony, systemd-timesyncd)"
    if abs(skew) > TOO_SKEWED_SECONDS:
        yield problem("clock", f"{told}: S3 refuses requests 15 minutes away from its own time", fix, UNREACHABLE)
    elif abs(skew) > SKEW_SECONDS:
        yield warning("clock", told, fix)
    else:
        yield ok("clock", "agrees with the server's")


def _region(connection: S3Connection, settings: S3Settings, reached: Reached) -> Finding:
    place = f"s3://{settings.bucket}"
    if reached.region and reached.region != connection.region:
        text = f"{place} is in {reached.region}, requests go to {connection.region}"
        return problem("region", text, f"region: {reached.region}    in the manifest", UNREACHABLE)
    at = f"at {settings.endpoint}" if settings.endpoint else f"in {connection.region}"
    return ok("bucket", f"{place} {at}")


def _caller(connection: S3Connection) -> Iterator[Finding]:
    """Who AWS says that we are; a server of another kind has no such service."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        identity = connection.session.client("sts").get_caller_identity()
    except ClientError as error:
        text = Answer.of(error.response, "GetCallerIdentity").explained("sts", connection.region)
        yield problem("identity", text, "log in again, or choose a profile: AWS_PROFILE", UNREACHABLE)
    except (BotoCoreError, LedgerUnreachable, ValueError) as error:
        yield problem("identity", str(error), "log in, or choose a profile: AWS_PROFILE", UNREACHABLE)
    else:
        yield ok("identity", f"{identity['Arn']} in account {identity['Account']}")


def _versions(connection: S3Connection, bucket: str) -> Iterator[Finding]:
    from botocore.exceptions import BotoCoreError, ClientError

    fix = "hybridwrap bootstrap    shows what else the bucket lacks"
    try:
        status = connection.often.get_bucket_versioning(Bucket=bucket).get("Status", "")
    except ClientError as error:
        if Answer.of(error.response, "").code not in DENIED_CODES:
            text = "the server knows no versions: a state that is overwritten by mistake is lost"
            yield warning("versioning", text, "keep copies of the bucket")
        else:
            text = "may not be looked at (s3:GetBucketVersioning)"
            yield warning("versioning", text, "allow it, or ask who owns the bucket")
    except BotoCoreError as error:
        yield warning("versioning", str(error), fix)
    else:
        if status == "Enabled":
            yield ok("versioning", "on: an overwritten state can be brought back")
        else:
            yield warning("versioning", "off: a state that is overwritten by mistake is lost", fix)
