"""What a bucket for states should be like: for each setting how it is now, how it should be, and how to get there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hybridwrap.adapters.bootstrap.asking import or_absent
from hybridwrap.adapters.bootstrap.encryption import encrypt, encryption_rules
from hybridwrap.adapters.bootstrap.policy import demands_tls, with_tls

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

UNSUPPORTED = "not supported by this server"
_BLOCKED = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")
_RULE = "hybridwrap-old-versions"
_UPLOAD_DAYS = 7  # then parts of an upload that never came to its end are removed


class Wishes(Struct, frozen=True):
    kms_key_id: str = ""  # encrypt by this key; else by S3's own
    tls_only: bool = True
    old_versions_days: int | None = None  # remove versions that were replaced so many days ago; None: keep all


class Setting(Struct, frozen=True):
    """One setting; `look` says how it is in words, `make` sets it, or not. Both raise botocore's ClientError."""

    name: str
    wanted: str
    look: Callable[[S3Client], str]
    make: Callable[[S3Client], object]  # False: the server takes the setting, and can't work with it
    also_good: tuple[str, ...] = ()  # beginnings of words for what is at least as good

    def is_met_by(self, now: str) -> bool:
        return now == self.wanted or now.startswith(self.also_good or ("\0",))


def settings_for(bucket: str, arn: str, wishes: Wishes) -> Iterator[Setting]:
    yield _versioning(bucket)
    yield _encryption(bucket, wishes.kms_key_id)
    yield _public_access(bucket)
    if wishes.tls_only:
        yield _tls(bucket, arn)
    if wishes.old_versions_days is not None:
        yield _old_versions(bucket, wishes.old_versions_days)


def _versioning(bucket: str) -> Setting:
    def look(client: S3Client) -> str:
        return "on" if client.get_bucket_versioning(Bucket=bucket).get("Status") == "Enabled" else "off"

    def make(client: S3Client) -> object:
        return client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})

    return Setting("versioning", "on", look, make)


def _encryption(bucket: str, key: str) -> Setting:
    rule = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key} if key else {"SSEAlgorithm": "AES256"}
    wanted = [{"ApplyServerSideEncryptionByDefault": rule, "BucketKeyEnabled": bool(key)}]

    def look(client: S3Client) -> str:
        rules = encryption_rules(client, bucket)
        return _encryption_in_words(rules[0].get("ApplyServerSideEncryptionByDefault", {})) if rules else "none"

    def make(client: S3Client) -> bool:
        return encrypt(client, bucket, wanted)

    return Setting("encryption", _encryption_in_words(rule), look, make, also_good=() if key else ("aws:kms",))


def _encryption_in_words(rule: Mapping[str, Any]) -> str:
    return " ".join(str(rule[name]) for name in ("SSEAlgorithm", "KMSMasterKeyID") if rule.get(name)) or "none"


def _public_access(bucket: str) -> Setting:
    def look(client: S3Client) -> str:
        answer = or_absent(
            lambda: client.get_public_access_block(Bucket=bucket), "NoSuchPublicAccessBlockConfiguration"
        )
        found = answer.get("PublicAccessBlockConfiguration", {})
        return "blocked" if all(found.get(name) for name in _BLOCKED) else "not blocked"

    def make(client: S3Client) -> object:
        wanted: Any = dict.fromkeys(_BLOCKED, True)
        return client.put_public_access_block(Bucket=bucket, PublicAccessBlockConfiguration=wanted)

    return Setting("public access", "blocked", look, make)


def _tls(bucket: str, arn: str) -> Setting:
    def policy(client: S3Client) -> str:
        answer = or_absent(lambda: client.get_bucket_policy(Bucket=bucket), "NoSuchBucketPolicy")
        return str(answer.get("Policy", ""))

    def look(client: S3Client) -> str:
        return "TLS only" if demands_tls(policy(client), arn) else "also without TLS"

    def make(client: S3Client) -> object:
        return client.put_bucket_policy(Bucket=bucket, Policy=with_tls(policy(client), arn))

    return Setting("connections", "TLS only", look, make)


def _old_versions(bucket: str, days: int) -> Setting:
    wanted = f"removed after {days} days"

    def rules(client: S3Client) -> list[Any]:
        answer = or_absent(
            lambda: client.get_bucket_lifecycle_configuration(Bucket=bucket), "NoSuchLifecycleConfiguration"
        )
        return list(answer.get("Rules", []))

    def look(client: S3Client) -> str:
        own: Any = next((rule for rule in rules(client) if rule.get("ID") == _RULE), {})
        found = own.get("NoncurrentVersionExpiration", {}).get("NoncurrentDays")
        return f"removed after {found} days" if found else "kept for ever"

    def make(client: S3Client) -> object:
        own: Any = {
            "ID": _RULE,
            "Status": "Enabled",
            "Filter": {"Prefix": ""},
            "NoncurrentVersionExpiration": {"NoncurrentDays": days},
            "Expiration": {"ExpiredObjectDeleteMarker": True},
            "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": _UPLOAD_DAYS},
        }
        others = [rule for rule in rules(client) if rule.get("ID") != _RULE]
        return client.put_bucket_lifecycle_configuration(
            Bucket=bucket, LifecycleConfiguration={"Rules": [*others, own]}
        )

    return Setting("old versions", wanted, look, make)
