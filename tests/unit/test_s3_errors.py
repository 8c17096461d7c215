"""What S3's refusals mean, for a server that gives them: the cause by name, and whether a write may still land."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import count

import pytest

from hybridwrap.adapters.s3_connection import S3Settings
from hybridwrap.adapters.s3_store import S3Store
from hybridwrap.domain.ports import Creation
from hybridwrap.errors import LedgerUnreachable
from tests.support import s3_servers
from tests.support.s3_servers import Fault, OneAtATime, Server

_buckets = count()
KMS = "User is not authorized to perform: kms:GenerateDataKey on this resource"
RESET = "We encountered an internal error. Please try again."


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in s3_servers.environment().items():
            patch.setenv(name, value)
        with s3_servers.moto() as server:
            yield server


@pytest.fixture
def app(server: Server) -> Iterator[OneAtATime]:
    assert server.app is not None
    server.app.requests.clear()
    yield server.app
    server.app.faults.clear()


@pytest.fixture
def store(server: Server, app: OneAtATime) -> S3Store:
    bucket = server.make_bucket(f"errors-{next(_buckets)}")
    app.requests.clear()
    return S3Store(S3Settings(bucket, "shop", region=s3_servers.REGION, endpoint=server.endpoint, path_style=True))


REFUSED = [
    (Fault(status=403, code="AccessDenied"), r"no permission for s3:PutObject"),
    (Fault(status=403, code="AccessDenied", message=KMS), r"no permission for kms:GenerateDataKey"),
    (Fault(status=403, code="RequestTimeTooSkewed"), r"the clock of this machine is off"),
    (Fault(status=404, code="NoSuchBucket"), r"there is no such bucket in region us-east-1"),
    (
        Fault(status=301, code="PermanentRedirect", headers={"x-amz-bucket-region": "eu-central-1"}),
        r"the bucket is in region eu-central-1, not in us-east-1",
    ),
    (Fault(status=400, code="ExpiredToken"), r"the credentials have expired"),
    (Fault(status=403, code="InvalidAccessKeyId"), r"the access key is not known"),
    (Fault(status=501, code="NotImplemented"), r"may lack conditional writes"),
]


@pytest.mark.parametrize(("fault", "message"), REFUSED, ids=lambda value: getattr(value, "code", ""))
def test_a_refusal_names_its_cause_and_nothing_was_stored(
    store: S3Store, app: OneAtATime, fault: Fault, message: str
) -> None:
    app.faults = [fault]
    attempt = store.create("a", b"one")
    assert attempt.creation is Creation.REFUSED
    with pytest.raises(LedgerUnreachable) as caught:
        store.replace("a", b"one")
    for text in (attempt.detail, caught.value.message):
        assert re.search(message, text), text
        assert text.startswith("s3://errors-"), "it says where"
    app.faults = []
    assert store.read("a") is None


@pytest.mark.parametrize(
    ("fault", "creation"),
    [
        (Fault(status=409, code="ConditionalRequestConflict"), Creation.UNSETTLED),
        (Fault(status=503, code="SlowDown"), Creation.IN_DOUBT),
        (Fault(status=500, code="InternalError", message=RESET), Creation.IN_DOUBT),
        (Fault(status=400, code="RequestTimeout"), Creation.IN_DOUBT),
        (Fault(status=412, code="PreconditionFailed"), Creation.EXISTS),
    ],
    ids=lambda value: getattr(value, "code", ""),
)
def test_a_create_is_sent_once_whatever_the_answer(
    store: S3Store, app: OneAtATime, fault: Fault, creation: Creation
) -> None:
    app.faults = [fault]
    assert store.create("a", b"one").creation is creation
    assert [method for method, _ in app.requests] == ["PUT"]


def test_a_create_whose_answer_is_lost_is_in_doubt_and_stored(store: S3Store, app: OneAtATime) -> None:
    app.faults = [Fault("PUT", status=500, times=1, store=True)]
    assert store.create("a", b"one").creation is Creation.IN_DOUBT
    assert store.read("a") == b"one"


LOGIN = b"<html><body>Please log in</body></html>"
ENDLESS = b"<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"


@pytest.mark.parametrize(
    ("fault", "creation"),
    [
        (Fault(status=200, body=LOGIN), Creation.IN_DOUBT),
        (Fault(status=200, body=ENDLESS), Creation.IN_DOUBT),
        (Fault(status=302, body=b"", headers={"Location": "/login"}), Creation.REFUSED),
    ],
    ids=["a login page", "an endless listing", "a redirect to a login page"],
)
def test_what_answers_in_place_of_s3_is_never_believed(
    store: S3Store, app: OneAtATime, fault: Fault, creation: Creation
) -> None:
    store.create("a", b"one")
    assert store.read("a") == b"one"
    app.faults = [fault]
    attempt = store.create("b", b"one")
    assert attempt.creation is creation
    assert "the answer is not one of S3" in attempt.detail
    for request in (lambda: store.read("a"), lambda: store.replace("a", b"two"), lambda: list(store.list(""))):
        with pytest.raises(LedgerUnreachable, match="the answer is not one of S3"):
            request()
    app.faults = []
    assert store.read("a") == b"one"
    assert store.read("b") is None


def test_what_may_be_repeated_is_repeated(store: S3Store, app: OneAtATime) -> None:
    store.create("a", b"one")
    app.faults = [Fault("GET", status=503, code="SlowDown", times=1), Fault("PUT", status=500, times=1)]
    assert store.read("a") == b"one"
    assert store.replace("a", b"two")
    assert store.read("a") == b"two"


@pytest.mark.parametrize(
    ("method", "permission"), [("GET", "s3:GetObject"), ("PUT", "s3:PutObject"), ("DELETE", "s3:DeleteObject")]
)
def test_a_missing_permission_is_named_for_each_action(
    store: S3Store, app: OneAtATime, method: str, permission: str
) -> None:
    app.faults = [Fault(method, path="/a", status=403, code="AccessDenied")]
    calls: dict[str, Callable[[], object]] = {
        "GET": lambda: store.read("a"),
        "PUT": lambda: store.replace("a", b""),
        "DELETE": lambda: store.delete("a"),
    }
    with pytest.raises(LedgerUnreachable, match=f"no permission for {permission}"):
        calls[method]()


def test_a_missing_permission_to_list_is_named(store: S3Store, app: OneAtATime) -> None:
    app.faults = [Fault("GET", status=403, code="AccessDenied")]
    with pytest.raises(LedgerUnreachable, match="no permission for s3:ListBucket"):
        list(store.list("log/"))


def test_a_bucket_that_is_not_there_is_told_from_a_key_that_is_not_there(server: Server) -> None:
    store = S3Store(S3Settings("nobody-has-this", region=s3_servers.REGION, endpoint=server.endpoint, path_style=True))
    with pytest.raises(LedgerUnreachable, match="no such bucket in region us-east-1"):
        store.read("a")


@pytest.mark.parametrize(
    ("status", "code", "hint"),
    [
        (404, "NoSuchBucket", "or make it: hybridwrap bootstrap"),
        (400, "ExpiredToken", "credentials, as for the aws command"),
        (403, "AccessDenied", "allow s3:ListBucket"),
        (503, "SlowDown", "the same command again"),
    ],
)
def test_what_to_do_depends_on_the_cause(store: S3Store, app: OneAtATime, status: int, code: str, hint: str) -> None:
    app.faults = [Fault("GET", status=status, code=code)]
    with pytest.raises(LedgerUnreachable) as caught:
        list(store.list("log/"))
    assert hint in caught.value.hint


def test_without_credentials_they_are_asked_for(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody-has-this")
    store = S3Store(S3Settings("bucket", region="us-east-1", endpoint=server.endpoint, path_style=True))
    with pytest.raises(LedgerUnreachable) as caught:
        store.read("a")
    assert "AWS_PROFILE" in caught.value.hint


def test_a_server_that_is_not_there_leaves_a_create_in_doubt() -> None:
    store = S3Store(S3Settings("bucket", region="us-east-1", endpoint="http://127.0.0.1:9", path_style=True))
    attempt = store.create("a", b"one")
    assert attempt.creation is Creation.IN_DOUBT
    assert "http://127.0.0.1:9" in attempt.detail


def test_without_credentials_nothing_is_sent(server: Server, app: OneAtATime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    store = S3Store(S3Settings("bucket", region="us-east-1", endpoint=server.endpoint, path_style=True))
    attempt = store.create("a", b"one")
    assert (attempt.creation, app.requests) == (Creation.REFUSED, [])
    assert "credentials" in attempt.detail


def test_an_unknown_profile_is_said_so() -> None:
    store = S3Store(S3Settings("bucket", profile="nobody"))
    assert "profile (nobody) could not be found" in store.create("a", b"one").detail
    with pytest.raises(LedgerUnreachable, match="nobody"):
        store.read("a")


def test_the_endpoint_of_the_environment_is_used(
    server: Server, app: OneAtATime, store: S3Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", server.endpoint)
    bucket = server.make_bucket(f"errors-{next(_buckets)}")
    by_environment = S3Store(S3Settings(bucket, region=s3_servers.REGION, path_style=True))
    assert by_environment.create("a", b"one").creation is Creation.STORED


def test_a_kms_key_is_asked_for_with_every_write(server: Server, app: OneAtATime) -> None:
    bucket = server.make_bucket(f"errors-{next(_buckets)}")
    store = S3Store(
        S3Settings(
            bucket, region=s3_servers.REGION, endpoint=server.endpoint, path_style=True, kms_key_id="alias/ledger"
        )
    )
    store.create("a", b"one")
    store.replace("b", b"two")
    for key in ("a", "b"):
        found = server.client().head_object(Bucket=bucket, Key=key)
        assert (found["ServerSideEncryption"], found["SSEKMSKeyId"]) == ("aws:kms", "alias/ledger")
