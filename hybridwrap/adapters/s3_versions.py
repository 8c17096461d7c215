"""Versions that a bucket keeps of its objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hybridwrap.adapters.s3_connection import S3Connection, S3Settings


class S3Versions:
    """Without versioning a bucket has one of each object: what is there now."""

    def __init__(self, settings: S3Settings) -> None:
        self._settings = settings
        self._connection = S3Connection(settings)

    @property
    def place(self) -> str:
        return f"the versions in bucket {self._settings.bucket}"

    def of(self, key: str) -> Iterator[bytes]:
        """Contents that a key had, the oldest first; deletions are none. Raise LedgerUnreachable."""
        name = self._settings.folder + key
        # A listing has the newest first: docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectVersions.html
        for version in reversed([item["VersionId"] for item in self._listed(name) if item["Key"] == name]):
            yield self._read(name, version)

    def _read(self, name: str, version: str) -> bytes:
        with self._connection.explaining("GetObjectVersion", self._url(name)):
            found = self._connection.often.get_object(Bucket=self._settings.bucket, Key=name, VersionId=version)
            return found["Body"].read()

    def _listed(self, name: str) -> Iterator[Any]:
        more: dict[str, str] = {}
        while True:
            page = self._page(name, more)
            yield from page.get("Versions", [])
            if not page.get("IsTruncated"):
                return
            more = {"KeyMarker": page["NextKeyMarker"], "VersionIdMarker": page["NextVersionIdMarker"]}

    def _page(self, name: str, more: dict[str, Any]) -> Any:
        with self._connection.explaining("ListObjectVersions", self._url(name)):
            return self._connection.often.list_object_versions(Bucket=self._settings.bucket, Prefix=name, **more)

    def _url(self, name: str) -> str:
        return f"s3://{self._settings.bucket}/{name}"
