"""Reads that are only signed here say what the SDK would say, and leave to it whatever is no plain answer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from hybridwrap.adapters.s3_connection import S3Settings
from hybridwrap.adapters.s3_store import S3Store
from hybridwrap.errors import LedgerUnreachable
from tests.support.s3_servers import REGION, Fault, Server

_buckets = count()
KEYS = ("plain", "a b/é+%41~", "v1/stack/env/log/vm/00000001.json")


@pytest.fixture(params=["moto", "seaweedfs"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    server: Server = request.getfixturevalue(request.param)
    yield server
    if server.app:
        server.app.faults.clear()


def store_on(server: Server, prefix: str = "pre fix/") -> S3Store:
    bucket = server.make_bucket(f"signed-{next(_buckets)}")
    return S3Store(S3Settings(bucket, prefix, REGION, endpoint=server.endpoint, path_style=True))


def test_the_first_read_and_all_later_ones_give_the_same(server: Server) -> None:
    store = store_on(server)
    for key in KEYS:
        store.create(key, key.encode())
    for _ in range(2):
        assert [store.read(key) for key in KEYS] == [key.encode() for key in KEYS]
        assert store.read("absent") is None


def test_what_is_refused_is_explained_and_what_fails_is_tried_again(moto: Server) -> None:
    store = store_on(moto)
    store.create("key", b"content")
    assert store.read("key") == b"content"
    assert moto.app
    moto.app.faults.append(Fault("GET", "/key$", 503, "SlowDown", times=2))
    assert store.read("key") == b"content"
    moto.app.faults[:] = [Fault("GET", "/key$", 403, "AccessDenied")]
    with pytest.raises(LedgerUnreachable, match="no permission for s3:GetObject"):
        store.read("key")
    moto.app.faults[:] = [Fault("GET", "/key$", 404, "NoSuchBucket")]
    with pytest.raises(LedgerUnreachable, match="there is no such bucket"):
        store.read("key")
    moto.app.faults.clear()
    assert store.read("key") == b"content"


def test_a_read_is_one_request_whatever_is_found(moto: Server) -> None:
    store = store_on(moto)
    store.create("key", b"content")
    store.read("key")
    assert moto.app
    moto.app.requests.clear()
    assert (store.read("key"), store.read("absent")) == (b"content", None)
    assert len(moto.app.requests) == 2
