"""`status` of a large stack whose ledger lies in S3: what it asks for on a host that is new, and what from then on."""

from __future__ import annotations

import json
from pathlib import Path

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
    """What is asked for, each once: the SDK repeats what a busy server answers late."""
    assert moto.app
    moto.app.targets.clear()
    ran = project.call("status", "--json", *argv)
    assert ran.code == 0, ran.text
    assert len(ran.json["modules"]) == MODULES
    assert {module["status"] for module in ran.json["modules"][:-1]} == {"ok"}
    return [(method, target.removesuffix("?")) for method, target in dict.fromkeys(moto.app.targets)]


def test_a_first_look_at_a_thousand_modules_reads_each_head_and_writes_nothing(moto: Server, large: Project) -> None:
    cold = requests_of(moto, large)
    assert len(cold) >= MODULES
    assert {method for method, _ in cold} == {"GET"}
    warm = requests_of(moto, large)
    assert len(warm) <= 4, f"one module has no head, so the folders of logs are listed too: {warm}"


def test_after_a_run_a_host_that_is_new_reads_the_heads_in_one_piece_and_then_asks_three_times(
    moto: Server, large: Project, tmp_path: Path
) -> None:
    applied = large.run("apply", "m0999", "--auto-approve", HYBRIDWRAP_HOME=str(tmp_path / "a"))
    assert applied.code == 0, applied.text
    new = Project(large.root, {**large.environ, "HYBRIDWRAP_HOME": str(tmp_path / "b")})
    heads = [path for _, path in requests_of(moto, new) if "/head" in path]
    assert heads == ["/status-of-many/hybridwrap/v1/shop/default/heads.gz"]
    warm = requests_of(moto, new)
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
