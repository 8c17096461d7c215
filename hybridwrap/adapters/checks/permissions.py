"""Permissions in a bucket, one by one, and what each of them breaks when it is missing.

Keeps: nothing that is there is touched, and nothing is left. A write is tried under a condition that can't be met, and
only on a store that has shown that it heeds conditions; what a probe makes, it may also remove.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.adapters.s3_connection import S3Connection, S3Settings
from hybridwrap.adapters.s3_errors import DENIED_CODES, Answer
from hybridwrap.domain.checkup import UNREACHABLE, Finding, ok, problem, warning

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

NAME = "hybridwrap-doctor-"  # begins the name of what a trial is about: nothing else is called so
NO_OBJECT_HAS_IT = '"00000000000000000000000000000000"'  # a tag
UNMET = frozenset({404, 409, 412})
ABSENT = frozenset({"NoSuchKey", "404"})


class Trial(Struct, frozen=True):
    """One permission: how it is tried, and which answers besides success show that it is there."""

    action: str  # as a policy spells it
    key: str  # or prefix
    breaks: str
    ask: Callable[[S3Client], Mapping[str, Any]]
    proves: Callable[[Answer], bool] = lambda _: False
    needed: bool = True  # False: it is missed, and that is all

    @property
    def where(self) -> str:
        """The keys that it is about, as a policy spells them."""
        folder, name, rest = self.key.partition(NAME)
        return f"{folder}*{'.tflock' if rest.endswith('.tflock') else ''}" if name else self.key


def try_it(connection: S3Connection, settings: S3Settings, trial: Trial) -> Finding:
    """Try one permission."""
    from botocore.exceptions import BotoCoreError, ClientError

    place = f"s3://{settings.bucket}/{trial.where}"
    try:
        trial.ask(connection.often)
    except ClientError as error:
        answer = Answer.of(error.response, trial.action)
        if not trial.proves(answer):
            return _missing(trial, _why(answer, trial, place, connection.region), _fix(settings, trial))
    except BotoCoreError as error:
        return problem(trial.action, f"{place}: {error}", "look at network and credentials", UNREACHABLE)
    return ok(trial.action, f"on {place}")


def _missing(trial: Trial, text: str, fix: str) -> Finding:
    return problem(trial.action, text, fix, UNREACHABLE) if trial.needed else warning(trial.action, text, fix)


def _why(answer: Answer, trial: Trial, place: str, region: str) -> str:
    if answer.code not in DENIED_CODES:
        return f"{answer.explained(place, region)}; without it {trial.breaks}"
    which = "the bucket's KMS key" if "kms" in answer.message.lower() else place
    return f"no permission on {which} ({answer.message or answer.code}): without it {trial.breaks}"


def _fix(settings: S3Settings, trial: Trial) -> str:
    arn = f"arn:aws:s3:::{settings.bucket}"
    if trial.action == "s3:ListBucket":
        return f"allow s3:ListBucket on {arn}, for the prefix {trial.key}"
    return f"allow {trial.action} on {arn}/{trial.where}"


def listing(prefix: str, breaks: str, bucket: str) -> Trial:
    def ask(client: S3Client) -> Any:
        return client.list_objects_v2(Bucket=bucket, Prefix=prefix, MaxKeys=1)

    return Trial("s3:ListBucket", prefix, breaks, ask)


def reading(key: str, breaks: str, bucket: str) -> Trial:
    def ask(client: S3Client) -> Any:
        return client.get_object(Bucket=bucket, Key=key, Range="bytes=0-0")

    return Trial("s3:GetObject", key, breaks, ask, lambda a: a.code in ABSENT or a.status == 416)  # noqa: PLR2004 - empty


def writing(key: str, breaks: str, bucket: str) -> Trial:
    """Try to replace what is not there: a store that heeds conditions never does."""

    def ask(client: S3Client) -> Any:
        return client.put_object(Bucket=bucket, Key=key, Body=b"", IfMatch=NO_OBJECT_HAS_IT)

    return Trial("s3:PutObject", key, breaks, ask, lambda answer: answer.status in UNMET)


def deleting(key: str, breaks: str, bucket: str) -> Trial:
    """Delete what is not there. Where versions are kept that leaves a mark, which is removed."""

    def ask(client: S3Client) -> Any:
        done = client.delete_object(Bucket=bucket, Key=key)
        if done.get("DeleteMarker") and done.get("VersionId"):
            _remove_mark(client, bucket, key, done["VersionId"])
        return done

    return Trial("s3:DeleteObject", key, breaks, ask, lambda answer: answer.code in ABSENT)


def _remove_mark(client: S3Client, bucket: str, key: str, version: str) -> None:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        client.delete_object(Bucket=bucket, Key=key, VersionId=version)
    except (BotoCoreError, ClientError):  # s3:DeleteObjectVersion is another permission; the mark is empty
        return


def ledger_trials(prefix: str, name: str, bucket: str) -> Iterator[Trial]:
    """What a ledger needs besides creating objects; `prefix` is that of its keys, `name` one that nothing has."""
    yield listing(prefix, "neither status nor any log can be read", bucket)
    yield reading(f"{prefix}ledger.json", "nothing of the ledger can be read, and no command runs", bucket)
    unloved = deleting(f"{prefix}probe/{name}", "probes and signs of life stay behind, which harms nobody", bucket)
    yield replace(unloved, needed=False)


def ledger_writes(prefix: str, name: str, bucket: str) -> Iterator[Trial]:
    yield writing(f"{prefix}log/{name}/0", "no operation can begin: apply and destroy stop before the engine", bucket)
    yield writing(f"{prefix}head/{name}", "no operation can begin, as nobody would see it", bucket)
    yield writing(
        f"{prefix}runs/{name}", "apply and destroy stop before anything, as their run can't be recorded", bucket
    )


def state_trials(folder: str, name: str, bucket: str) -> Iterator[Trial]:
    """What an engine needs where it keeps a state; `folder` is that of the state's key, with its slash."""
    yield reading(f"{folder}{name}", "no state can be read: every plan fails", bucket)
    yield deleting(f"{folder}{name}.tflock", "locks stay behind: each apply leaves one, and the next finds it", bucket)


def state_writes(folder: str, name: str, bucket: str) -> Iterator[Trial]:
    yield writing(f"{folder}{name}", "an apply can't save its state: it ends with errored.tfstate", bucket)
    yield writing(f"{folder}{name}.tflock", "no state can be locked: every plan and apply fails", bucket)
