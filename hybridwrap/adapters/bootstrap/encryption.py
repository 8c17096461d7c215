"""Encryption of a bucket by default: set, tried, and taken back where nothing can be stored with it.

Some servers take the setting without being able to encrypt, and refuse every write from then on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hybridwrap.adapters.bootstrap.asking import or_absent

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

PROBE = "hybridwrap-bootstrap-probe"
SERVER_ERROR = 500


def encryption_rules(client: S3Client, bucket: str) -> list[Any]:
    answer = or_absent(
        lambda: client.get_bucket_encryption(Bucket=bucket), "ServerSideEncryptionConfigurationNotFoundError"
    )
    return list(answer.get("ServerSideEncryptionConfiguration", {}).get("Rules", []))


def encrypt(client: S3Client, bucket: str, rules: list[Any]) -> bool:
    """Set the rules; False when the server can't work with them, and has the ones from before again.

    Raise ClientError when it refuses them, or a write with them.
    """
    from botocore.exceptions import ClientError

    before = encryption_rules(client, bucket)
    _set(client, bucket, rules)
    try:
        _try_write(client, bucket)
    except ClientError as error:
        _set(client, bucket, before)
        if error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) < SERVER_ERROR:
            raise
        return False
    return True


def _set(client: S3Client, bucket: str, rules: list[Any]) -> None:
    wanted: Any = {"Rules": rules}
    if rules:
        client.put_bucket_encryption(Bucket=bucket, ServerSideEncryptionConfiguration=wanted)
    else:
        client.delete_bucket_encryption(Bucket=bucket)


def _try_write(client: S3Client, bucket: str) -> None:
    """Store an object and remove it, with its version where the bucket keeps those."""
    stored = client.put_object(Bucket=bucket, Key=PROBE, Body=b"")
    version: Any = {"VersionId": stored["VersionId"]} if stored.get("VersionId") else {}
    client.delete_object(Bucket=bucket, Key=PROBE, **version)
