"""Versions that a bucket keeps of its objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from hybridwrap.adapters.s3_connection import S3Connection, S3Settings
from hybridwrap.adapters.s3_errors import Answer
from hybridwrap.errors import LedgerUnreachable

T = TypeVar("T")


class S3Versions:
    """Without versioning a bucket has one of each object: what is there now."""

    def __init__(self, settings: S3Settings) -> None:
        self._settings = settings
        self._connection = S3Connection(settings)
        self._prefix = f"{settings.prefix.rstrip('/')}/" if settings.prefix.strip("/") else ""

    @property
    def place(self) -> str:
        return f"the versions in bucket {self._settings.bucket}"

    def of(self, key: str) -> Iterator[bytes]:
        """Contents that a key had, the oldest first; deletions are none. Raise LedgerUnreachable."""
        name = self._prefix + key
        # A listing has the newest first: docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectVersions.html
        for version in reversed([item["VersionId"] for item in self._listed(name) if item["Key"] == name]):
            yield self._asked("GetObjectVersion", name, partial(self._get, name, version))

    def _get(self, name: str, version: str) -> bytes:
        found = self._connection.often.get_object(Bucket=self._settings.bucket, Key=name, VersionId=version)
        return found["Body"].read()

    def _listed(self, name: str) -> Iterator[Any]:
        more: dict[str, str] = {}
        while True:
            page = self._asked("ListObjectVersions", name, partial(self._page, name, more))
            yield from page.get("Versions", [])
            if not page.get("IsTruncated"):
                return
            more = {"KeyMarker": page["NextKeyMarker"], "VersionIdMarker": page["NextVersionIdMarker"]}

    def _page(self, name: str, more: dict[str, Any]) -> Any:
        return self._connection.often.list_object_versions(Bucket=self._settings.bucket, Prefix=name, **more)

    def _asked(self, action: str, name: str, request: Callable[[], T]) -> T:
        from botocore.exceptions import BotoCoreError, ClientError

        where = f"s3://{self._settings.bucket}/{name}"
        try:
            return request()
        except ClientError as error:
            told = Answer.of(error.response, action).explained(where, self._connection.region)
            raise LedgerUnreachable(told) from error
        except BotoCoreError as error:
            raise LedgerUnreachable(f"{where}: {error}") from error
