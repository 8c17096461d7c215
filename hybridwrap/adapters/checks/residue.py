"""Removes what a probe left in a bucket that keeps old versions: a deleted object is still there, and its mark, too."""

from __future__ import annotations

from hybridwrap.adapters.s3_connection import S3Connection, S3Settings
from hybridwrap.errors import LedgerUnreachable


def remove_all(connection: S3Connection, settings: S3Settings, prefix: str) -> None:
    """Remove every version below a prefix that nobody else uses, as far as that is allowed."""
    from botocore.exceptions import BotoCoreError, ClientError

    client = connection.often
    try:
        page = client.list_object_versions(Bucket=settings.bucket, Prefix=prefix)
        for found in (*page.get("Versions", []), *page.get("DeleteMarkers", [])):
            client.delete_object(Bucket=settings.bucket, Key=found["Key"], VersionId=found["VersionId"])
    except (BotoCoreError, ClientError, LedgerUnreachable):  # s3:DeleteObjectVersion is a permission of its own
        return
