"""What an answer of S3 means, in words that name the cause: permission, region, bucket, clock, credentials.

Codes: docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from hybridwrap.domain.ports import Attempt, Creation

ACTIONS = {
    "PutObject": "s3:PutObject",
    "GetObject": "s3:GetObject",
    "ListObjectsV2": "s3:ListBucket",
    "ListObjectVersions": "s3:ListBucketVersions",
    "GetObjectVersion": "s3:GetObjectVersion",
    "DeleteObject": "s3:DeleteObject",
    "HeadBucket": "s3:ListBucket",
    "CreateBucket": "s3:CreateBucket",
    "GetBucketVersioning": "s3:GetBucketVersioning",
    "PutBucketVersioning": "s3:PutBucketVersioning",
    "GetBucketEncryption": "s3:GetEncryptionConfiguration",
    "PutBucketEncryption": "s3:PutEncryptionConfiguration",
    "DeleteBucketEncryption": "s3:PutEncryptionConfiguration",
    "GetPublicAccessBlock": "s3:GetBucketPublicAccessBlock",
    "PutPublicAccessBlock": "s3:PutBucketPublicAccessBlock",
    "GetBucketPolicy": "s3:GetBucketPolicy",
    "PutBucketPolicy": "s3:PutBucketPolicy",
    "GetBucketLifecycleConfiguration": "s3:GetLifecycleConfiguration",
    "PutBucketLifecycleConfiguration": "s3:PutLifecycleConfiguration",
}
EXPLAINED = {
    "RequestTimeTooSkewed": "the clock of this machine is off: S3 refuses requests 15 minutes away from its own time",
    "ExpiredToken": "the credentials have expired",
    "InvalidToken": "the session token is not valid",
    "InvalidAccessKeyId": "the access key is not known",
    "SignatureDoesNotMatch": "the secret key does not fit the access key",
    "NotImplemented": "the store does not know what was asked of it: it may lack conditional writes",
    "SlowDown": "S3 asks to slow down",
    "InternalError": "S3 had an internal error",
    "KMS.DisabledException": "the KMS key is disabled",
    "KMS.NotFoundException": "there is no such KMS key",
}
REGION_CODES = frozenset(
    {"PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"}
)
DENIED_CODES = frozenset({"AccessDenied", "Forbidden", "403", "AllAccessDisabled", "AccountProblem"})
ASK_AGAIN_CODES = frozenset({"RequestTimeout", "SlowDown", "RequestLimitExceeded", "Throttling", "ThrottlingException"})
CREDENTIAL_CODES = frozenset({"ExpiredToken", "InvalidToken", "InvalidAccessKeyId", "SignatureDoesNotMatch"})
CREDENTIALS = "credentials, as for the aws command: AWS_PROFILE, `aws sso login`, …    hybridwrap doctor looks at them"
MAKE_BUCKET = "correct its name in the manifest, or make it: hybridwrap bootstrap"
LOOK = "hybridwrap doctor    looks at network, endpoint, region and permissions"

NOT_OF_S3 = "the answer is not one of S3: something on the way, as a proxy or a login page, may have given it"
REDIRECTS = (301, 302, 307)


class Answer(Struct, frozen=True):
    """The facts of an error answer."""

    action: str  # of the API
    code: str
    status: int
    message: str = ""
    region: str = ""  # where the bucket is, if S3 says so

    @classmethod
    def of(cls, response: Mapping[str, Any], action: str) -> Answer:
        """Read the response of a botocore ClientError."""
        error, meta = response.get("Error", {}), response.get("ResponseMetadata", {})
        headers = meta.get("HTTPHeaders", {})
        return cls(
            action=action,
            code=str(error.get("Code", "")),
            status=int(meta.get("HTTPStatusCode", 0)),
            message=str(error.get("Message", "")),
            region=str(headers.get("x-amz-bucket-region") or error.get("Region") or ""),
        )

    def attempt(self, where: str, region: str) -> Attempt:
        """What became of a create that was answered so."""
        match self.status:
            case 412:
                return Attempt(Creation.EXISTS)
            case 409:
                creation = Creation.UNSETTLED
            case _ if self.status >= 500 and self.code != "NotImplemented":  # noqa: PLR2004 - server errors
                creation = Creation.IN_DOUBT
            case _:
                creation = Creation.IN_DOUBT if self.code in ASK_AGAIN_CODES else Creation.REFUSED
        return Attempt(creation, self.explained(where, region), self.way_out)

    @property
    def way_out(self) -> str:
        """What to do about it; "" for the same again."""
        if self.status >= 500 or self.code in ASK_AGAIN_CODES:  # noqa: PLR2004 - server errors
            return ""
        if self.code == "NoSuchBucket":
            return MAKE_BUCKET
        if self.code in DENIED_CODES:
            return f"allow {self._permission()}    hybridwrap doctor looks at each permission"
        return CREDENTIALS if self.code in CREDENTIAL_CODES else LOOK

    def explained(self, where: str, region: str) -> str:
        """Say what is wrong; `where` is the object or bucket, `region` the one that is configured."""
        if self.code == "NoSuchBucket":
            return f"{where}: there is no such bucket in region {region} (NoSuchBucket)"
        if self.code in EXPLAINED:
            return f"{where}: {EXPLAINED[self.code]} ({self.code})"
        if self.status in REDIRECTS and not self.region and self.code not in REGION_CODES:
            return f"{where}: {NOT_OF_S3} (redirect {self.status})"
        if self.code in REGION_CODES or self.status in REDIRECTS:
            there = f"region {self.region}" if self.region else "another region"
            return f"{where}: the bucket is in {there}, not in {region} ({self.code})"
        if self.code in DENIED_CODES:
            return f"{where}: no permission for {self._permission()} ({self.message or self.code})"
        return f"{where}: {self.code or self.status}: {self.message}"

    def _permission(self) -> str:
        if "kms" in self.message.lower():
            return "kms:GenerateDataKey and kms:Decrypt of the bucket's key"
        return ACTIONS.get(self.action, self.action)


def way_out(error: Exception) -> str:
    """What to do about a request that got no answer."""
    from botocore import exceptions as botocore

    about_credentials = (
        botocore.NoCredentialsError,
        botocore.PartialCredentialsError,
        botocore.CredentialRetrievalError,
        botocore.ProfileNotFound,
        botocore.SSOError,
        botocore.TokenRetrievalError,
    )
    return CREDENTIALS if isinstance(error, about_credentials) else LOOK
