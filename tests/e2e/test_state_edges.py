"""A module that reads another one's state by itself: order, waiting, changes, teardown, and no word of it written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.project import Project

pytestmark = pytest.mark.e2e

MANIFEST = """
version: 1
stack: shop
modules:
  app: {{source: app}}
  net: {{source: net, state: {{local: {{path: net/terraform.tfstate}}}}, inputs: {{cidr: {cidr}, broken: {broken}}}}}
"""
NET = """
variable "cidr" {}
variable "broken" { type = bool }
resource "terraform_data" "net" {
  triggers_replace = [var.cidr, var.broken]
  provisioner "local-exec" { command = var.broken ? "false" : "true" }
}
output "cidr" { value = "${var.cidr} of ${substr(terraform_data.net.id, 0, 3)}" }
"""
APP = """
data "terraform_remote_state" "net" {
  backend = "local"
  config  = { path = "../net/terraform.tfstate" }
}
resource "terraform_data" "app" { input = data.terraform_remote_state.net.outputs.cidr }
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_state_that_a_module_reads_by_itself_comes_first_and_its_changes_count(project: Project) -> None:
    def declare(*, cidr: str = "a", broken: str = "false") -> None:
        project.write(MANIFEST.format(cidr=cidr, broken=broken), net=NET, app=APP)

    declare()
    assert project.call("list", "--json").json["modules"][1]["edges"] == {"net": ["state"]}
    assert project.call("graph", "--json").json["modules"][1]["needs"] == {"net": ["state"]}
    assert "reads the state of net" in project.call("graph").out

    alone = project.apply("app")
    assert alone.code == 10
    assert "net was not applied: its state, read in app/main.tf:2, is not there yet" in alone.out

    applied = project.apply()
    assert applied.code == 0, applied.text
    assert "2 unchanged" in project.apply("--skip-unchanged").out

    declare(cidr="b")
    assert "needs the state of net, which this plan would change" in project.run("plan").out
    assert project.apply("net").code == 0
    changed = project.apply("app", "--skip-unchanged")
    assert "outputs that it uses have changed" in changed.out
    assert "1 ok" in changed.out

    declare(cidr="c", broken="true")
    failed = project.apply()
    assert failed.code == 4
    assert "it reads the state of net" in failed.out
    assert project.status()["app"]["status"] == "pending"
    assert "net" in project.call("why", "app").out

    declare(cidr="c")
    resumed = project.run("resume", "--auto-approve", "--inputs", "current")
    assert resumed.code == 0, resumed.text
    told = project.run("destroy", "--auto-approve", "--json").lines
    assert [line["module"] for line in told if line.get("type") == "module_ended"] == ["app", "net"]
    assert set(project.statuses().values()) == {"destroyed"}
