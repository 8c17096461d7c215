"""A stack that uses outputs of another one, as every command shows it and goes on with it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hybridwrap.adapters.s3_connection import S3Settings
from hybridwrap.adapters.s3_store import S3Store
from hybridwrap.domain.ledger import Ledger
from tests.support import s3_servers
from tests.support.ledgers import FakeClock, Ids, begin, failed, ok, writer
from tests.support.project import Project
from tests.support.s3_servers import Server
from tests.support.two_stacks import APP, write_two_stacks

pytestmark = pytest.mark.e2e


@pytest.fixture
def shop(tmp_path: Path) -> Project:
    root = tmp_path / "shop"
    root.mkdir()
    return Project(root)


def test_every_command_works_with_outputs_of_another_stack(shop: Project) -> None:
    net = write_two_stacks(shop)
    waits = "NET/vpc.id is waited for: vpc of stack net in default was not applied"
    assert shop.call("render", "app", "--json").json["waits"][0] == waits
    assert "needs NET/vpc.id, NET/vpc.token: vpc of stack net in default was not applied" in shop.run("plan").text
    assert net.apply().code == 0

    assert shop.call("render", "app", "--json").json["inputs"]["vpc_id"] == '"vpc-10.0.0.0/16"'
    assert "NET/vpc" in shop.call("list").out
    (app, _) = shop.call("list", "--json").json["modules"]
    assert (app["needs"], app["elsewhere"]) == ([], ["NET/vpc"])
    assert "uses NET/vpc" in shop.call("graph").out
    for form in ("mermaid", "dot", "svg"):
        assert "NET" in shop.call("graph", "--format", form).out
    assert shop.call("graph", "--json").json["modules"][0]["elsewhere"] == ["NET/vpc"]

    (shop.root / "app/main.tf").write_text(
        APP.replace("{ input", '{\n  provisioner "local-exec" { command = "false" }\n  input')
    )
    assert shop.apply().code == 4
    (shop.root / "app/main.tf").write_text(APP)
    resumed = shop.run("resume", "--auto-approve")
    assert resumed.code == 0, resumed.text
    assert shop.statuses() == {"app": "ok", "health": "ok"}
    by_hand = shop.call("commands", "app")
    assert by_hand.code == 0
    assert "vpc-10.0.0.0/16" in by_hand.out
    assert "hunter2" not in by_hand.text

    shutil.rmtree(net.root / ".hybridwrap/ledger")
    assert "was not applied" in shop.call("commands", "app").text
    assert shop.apply("app").code == 10
    assert shop.status()["app"]["was"] == "ok"
    assert shop.run("drift", "health").code == 0
    gone = shop.run("destroy", "--auto-approve", "-var", "token=x")
    assert gone.code == 0, gone.text
    assert set(shop.statuses().values()) == {"destroyed"}


ON_S3 = """version: 1
stack: shop
stacks:
  NET:
    ledger: {{s3: {{bucket: {bucket}, prefix: net/, region: us-east-1, endpoint: "{endpoint}", use_path_style: true}}}}
    stack: net
    environment: prod
modules:
  app: {{source: app, inputs: {{vpc_id: "{{{{ stacks.NET.modules.vpc.id }}}}", token: {{from_env: TOKEN}}}}}}
"""


def test_a_ledger_in_a_bucket_is_enough(moto: Server, tmp_path: Path) -> None:
    bucket = moto.make_bucket("other-stacks")
    shop = Project(tmp_path, s3_servers.environment())
    shop.write(ON_S3.format(bucket=bucket, endpoint=moto.endpoint), app=APP)
    place = S3Settings(bucket=bucket, prefix="net/", region="us-east-1", endpoint=moto.endpoint, path_style=True)
    theirs = Ledger(S3Store(place), "net", "prod", writer(), FakeClock(), Ids())
    theirs.open()
    held = theirs.begin(theirs.record("vpc"), begin(), operation="O-1")
    theirs.end(held, ok(1, id="vpc-1"), operation="O-1", entry_id="E-1")
    assert shop.call("render", "app", "--json").json["inputs"]["vpc_id"] == '"vpc-1"'
    held = theirs.begin(theirs.record("vpc"), begin(serial=1), operation="O-2")
    theirs.end(held, failed(2), operation="O-2", entry_id="E-2")
    (waits,) = shop.call("render", "app", "--json").json["waits"]
    assert "vpc of stack net in prod is in error" in waits
