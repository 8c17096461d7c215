"""Reads the state object of an S3 backend, with the credentials that the engine would use."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any

from hybridwrap.domain.json import Json
from hybridwrap.errors import OutcomeUnknown

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

# The settings of a backend with which we know how to read; with any other one the engine is asked.
_PLACE = (
    "bucket",
    "key",
    "workspace_key_prefix",
    "region",
    "endpoint",
    "endpoints",
    "use_path_style",
    "force_path_style",
)
_ONLY_FOR_WRITING = (
    "encrypt",
    "kms_key_id",
    "acl",
    "use_lockfile",
    "dynamodb_table",
    "dynamodb_endpoint",
    "max_retries",
)
_UNDERSTOOD = frozenset(("profile", *_PLACE, *_ONLY_FOR_WRITING))
_CHECKS_LEFT_OUT = "skip_"

# Variables of the engine's environment that we pass on; boto3 reads all others from our own.
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
_REGION = ("AWS_REGION", "AWS_DEFAULT_REGION")
_ENDPOINT = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_PASSED_ON = frozenset(("AWS_PROFILE", *_KEYS, *_REGION, *_ENDPOINT))
_ALSO_STEER = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "HOME")

_Access = tuple[tuple[str, str | None], ...]


def understood(settings: Mapping[str, Json], env: Mapping[str, str]) -> bool:
    """Whether we would read the same object with the same identity as an engine with this environment."""
    given = {name for name, value in settings.items() if value not in (None, "", False)}
    usual = all(name in _UNDERSTOOD or name.startswith(_CHECKS_LEFT_OUT) for name in given)
    return usual and all(name in _PASSED_ON and name in env for name in _different(env))


class S3States:
    """Keeps one client for each way of access."""

    def __init__(self) -> None:
        self._clients: dict[_Access, S3Client] = {}
        self._lock = Lock()

    def read(self, settings: Mapping[str, Json], key: str, env: Mapping[str, str]) -> bytes | None:
        """Read an object, None when there is none. Raise OutcomeUnknown when that can't be told."""
        from botocore.exceptions import BotoCoreError, ClientError

        bucket = str(settings.get("bucket", ""))
        try:
            return self._client(settings, env).get_object(Bucket=bucket, Key=key)["Body"].read()
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") == "NoSuchKey":
                return None
            raise _unreadable(bucket, key, error) from error
        except BotoCoreError as error:
            raise _unreadable(bucket, key, error) from error

    def put(
        self, settings: Mapping[str, Json], key: str, env: Mapping[str, str], data: bytes, *, over: bytes | None
    ) -> None:
        """Write an object over the content `over`, None: over nothing. Raise OutcomeUnknown when that is not certain.

        The SDK tries again by itself: a refusal may be the answer to our own write, so the object is read once more.
        """
        from botocore.exceptions import BotoCoreError, ClientError

        bucket, client = str(settings.get("bucket", "")), self._client(settings, env)
        try:
            wishes = _at_rest(settings) | (
                {"IfNoneMatch": "*"} if over is None else {"IfMatch": _tag_of(client, bucket, key, over)}
            )
            client.put_object(Bucket=bucket, Key=key, Body=data, ContentType="application/json", **wishes)
        except (BotoCoreError, ClientError) as error:
            if self.read(settings, key, env) != data:
                raise OutcomeUnknown(f"the state was not put back at s3://{bucket}/{key}: {error}") from error

    def delete(self, settings: Mapping[str, Json], key: str, env: Mapping[str, str]) -> None:
        """Delete an object; one that is not there is no error. Raise OutcomeUnknown when it can't be done."""
        from botocore.exceptions import BotoCoreError, ClientError

        bucket = str(settings.get("bucket", ""))
        try:
            self._client(settings, env).delete_object(Bucket=bucket, Key=key)
        except (BotoCoreError, ClientError) as error:
            raise OutcomeUnknown(
                f"s3://{bucket}/{key} can't be deleted: {error}", hint="it needs the right to s3:DeleteObject"
            ) from error

    def _client(self, settings: Mapping[str, Json], env: Mapping[str, str]) -> S3Client:
        access = _access(settings, env)
        with self._lock:
            if access not in self._clients:
                self._clients[access] = _connect(access)
            return self._clients[access]


def _tag_of(client: S3Client, bucket: str, key: str, content: bytes) -> str:
    found = client.get_object(Bucket=bucket, Key=key)
    if found["Body"].read() != content:
        raise OutcomeUnknown(
            f"the state at s3://{bucket}/{key} is another one than a moment ago: nothing was put there"
        )
    return found["ETag"]


def _at_rest(settings: Mapping[str, Json]) -> Any:
    """How the backend would have the object stored."""
    stored = {"ACL": settings["acl"]} if settings.get("acl") else {}
    if settings.get("kms_key_id"):
        return {**stored, "ServerSideEncryption": "aws:kms", "SSEKMSKeyId": settings["kms_key_id"]}
    return {**stored, "ServerSideEncryption": "AES256"} if settings.get("encrypt") in {True, "true"} else stored


def _access(settings: Mapping[str, Json], env: Mapping[str, str]) -> _Access:
    endpoints = settings.get("endpoints") or {}
    profile = settings.get("profile")
    keys = "" if profile else env.get("AWS_ACCESS_KEY_ID")  # an explicit profile beats the environment's keys
    return (
        ("region", settings.get("region") or _first(env, _REGION)),
        ("endpoint", endpoints.get("s3") or settings.get("endpoint") or _first(env, _ENDPOINT)),
        ("path_style", "yes" if settings.get("use_path_style") or settings.get("force_path_style") else None),
        ("profile", profile or (None if keys else env.get("AWS_PROFILE"))),
        ("key_id", keys or None),
        ("secret", env.get("AWS_SECRET_ACCESS_KEY") if keys else None),
        ("token", env.get("AWS_SESSION_TOKEN") if keys else None),
    )


def _first(env: Mapping[str, str], names: Iterable[str]) -> str | None:
    return next((env[name] for name in names if env.get(name)), None)


def _different(env: Mapping[str, str]) -> set[str]:
    """Variables that steer an AWS client and are not the same for the engine as for us."""
    names = {name for name in (*env, *os.environ) if name.startswith("AWS_") or name.upper() in _ALSO_STEER}
    return {name for name in names if env.get(name) != os.environ.get(name)}


def _connect(access: _Access) -> S3Client:
    from boto3.session import Session
    from botocore.config import Config

    wanted = dict(access)
    session = Session(
        aws_access_key_id=wanted["key_id"],
        aws_secret_access_key=wanted["secret"],
        aws_session_token=wanted["token"],
        region_name=wanted["region"],
        profile_name=wanted["profile"],
    )
    config = Config(
        s3={"addressing_style": "path"} if wanted["path_style"] == "yes" else {},
        connect_timeout=10,
        retries={"total_max_attempts": 4, "mode": "standard"},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    return session.client("s3", endpoint_url=wanted["endpoint"], config=config)


def _unreadable(bucket: str, key: str, error: Exception) -> OutcomeUnknown:
    return OutcomeUnknown(
        f"the state at s3://{bucket}/{key} can't be read: {error}", hint="hybridwrap doctor shows account and place"
    )
