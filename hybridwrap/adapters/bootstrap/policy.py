"""The part of a bucket's policy that keeps everybody from speaking to it without TLS; all other parts stay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hybridwrap.domain.json import Json, canonical, loads

SID = "HybridwrapTlsOnly"
_EVERYTHING = ({"s3:*"}, {"*"})


def demands_tls(policy: str, bucket_arn: str) -> bool:
    """Whether a policy denies everything in the bucket to who comes without TLS."""
    return any(_denies_plain(statement, bucket_arn) for statement in _statements(policy))


def with_tls(policy: str, bucket_arn: str) -> str:
    """Add the demand to a policy; "" is no policy yet."""
    tree = loads(policy) if policy else {"Version": "2012-10-17"}
    others = [statement for statement in _statements(policy) if statement.get("Sid") != SID]
    return canonical({**tree, "Statement": [*others, _statement(bucket_arn)]}).decode()


def _statement(bucket_arn: str) -> Mapping[str, Json]:
    return {
        "Sid": SID,
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": [bucket_arn, f"{bucket_arn}/*"],
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }


def _statements(policy: str) -> list[Mapping[str, Json]]:
    found = loads(policy).get("Statement", []) if policy else []
    return found if isinstance(found, list) else [found]


def _denies_plain(statement: Mapping[str, Json], bucket_arn: str) -> bool:
    secure = statement.get("Condition", {}).get("Bool", {}).get("aws:SecureTransport")
    resources = _words(statement.get("Resource"))
    return (
        statement.get("Effect") == "Deny"
        and statement.get("Principal") in ("*", {"AWS": "*"})
        and _words(statement.get("Action")) in _EVERYTHING
        and {word.lower() for word in _words(secure)} == {"false"}
        and set(statement["Condition"]) == {"Bool"}
        and ("*" in resources or {bucket_arn, f"{bucket_arn}/*"} <= resources)
    )


def _words(value: Json) -> set[str]:
    values: Iterable[Json] = value if isinstance(value, list) else () if value is None else (value,)
    return {str(each) for each in values}
