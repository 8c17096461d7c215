"""A stack that uses outputs of another one, as every command shows it and goes on with it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.project import Project
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
    assert shop.run("render", "app", "--json").json["waits"][0] == waits
    assert "needs NET/vpc.id" in shop.run("plan").text
    assert net.apply().code == 0

    assert shop.run("render", "app", "--json").json["inputs"]["vpc_id"] == '"vpc-10.0.0.0/16"'
    assert "NET/vpc" in shop.run("list").out
    (app, _) = shop.run("list", "--json").json["modules"]
    assert (app["needs"], app["elsewhere"]) == ([], ["NET/vpc"])
    assert "uses NET/vpc" in shop.run("graph").out
    for form in ("mermaid", "dot", "svg"):
        assert "NET" in shop.run("graph", "--format", form).out
    assert shop.run("graph", "--json").json["modules"][0]["elsewhere"] == ["NET/vpc"]

    (shop.root / "app/main.tf").write_text(
        APP.replace("{ input", '{\n  provisioner "local-exec" { command = "false" }\n  input')
    )
    assert shop.apply().code == 4
    (shop.root / "app/main.tf").write_text(APP)
    resumed = shop.run("resume", "--auto-approve")
    assert resumed.code == 0, resumed.text
    assert shop.statuses() == {"app": "ok", "health": "ok"}
    by_hand = shop.run("commands", "app")
    assert by_hand.code == 0
    assert "vpc-10.0.0.0/16" in by_hand.out
    assert "hunter2" not in by_hand.text

    shutil.rmtree(net.root / ".hybridwrap/ledger")
    assert "was not applied" in shop.run("commands", "app").text
    assert shop.apply("app").code == 10
    assert shop.status()["app"]["was"] == "ok"
    assert shop.run("drift", "health").code == 0
    gone = shop.run("destroy", "--auto-approve", "-var", "token=x")
    assert gone.code == 0, gone.text
    assert set(shop.statuses().values()) == {"destroyed"}
