"""`status` of a large stack whose ledger lies in S3: what it asks for the first time, and what from then on."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from hybridwrap.domain.codec import decode_head, encode_head
from tests.support import s3_servers
from tests.support.many_modules import write_many
from tests.support.project import Project
from tests.support.s3_servers import Server

pytestmark = pytest.mark.e2e

MODULES = 1000


@pytest.fixture(scope="module")
def large(moto: Server, tmp_path_factory: pytest.TempPathFactory) -> Project:
    root = tmp_path_factory.mktemp("large")
    write_many(root, moto, moto.make_bucket("status-of-many"), MODULES)
    return Project(root, s3_servers.environment())


def requests_of(moto: Server, project: Project, *argv: str) -> list[tuple[str, str]]:
    assert moto.app
    moto.app.requests.clear()
    ran = project.run("status", "--json", *argv)
    assert ran.code == 0, ran.text
    assert len(ran.json["modules"]) == MODULES
    assert {module["status"] for module in ran.json["modules"]} == {"ok"}
    return list(moto.app.requests)


def test_a_second_status_of_a_thousand_modules_asks_three_times(moto: Server, large: Project) -> None:
    cold = requests_of(moto, large)
    assert len(cold) > MODULES
    assert {method for method, _ in cold} == {"GET"}, "looking writes nothing"
    warm = requests_of(moto, large)
    assert len(warm) <= 3, warm


def test_a_head_that_changed_is_the_only_one_that_is_fetched(moto: Server, large: Project) -> None:
    requests_of(moto, large)
    client, key = moto.client(), "hybridwrap/v1/shop/default/head/m0007.json"
    data = client.get_object(Bucket="status-of-many", Key=key)["Body"].read()
    ledger = json.loads(data)["ledger"]
    record = decode_head(data, ledger, lambda _: b"")
    assert record is not None
    again = encode_head(replace(record, reason="seen again"), ledger, str)
    client.put_object(Bucket="status-of-many", Key=key, Body=again)
    asked = requests_of(moto, large)
    assert [path for _, path in asked if "/head/" in path] == [f"/status-of-many/{key}"]
