"""An incident at night: what happened, and where things stand, from the place of the ledger alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import s3_servers
from tests.support.project import Project
from tests.support.s3_servers import Server

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
{state}
environments: {{dev: {{}}, prod: {{}}}}
modules:
  network: {{source: network}}
  vm: {{source: vm, inputs: {{network: "{{{{ modules.network.id }}}}"}}}}
  health: {{source: health, inputs: {{vm: "{{{{ modules.vm.id }}}}"}}}}
"""
NETWORK = 'resource "terraform_data" "it" {}\noutput "id" { value = "net-1" }\n'
VM = """
variable "network" {}
resource "terraform_data" "it" {
  input = var.network
  provisioner "local-exec" { command = "false" }
}
output "id" { value = terraform_data.it.id }
"""
HEALTH = 'variable "vm" {}\nresource "terraform_data" "it" { input = var.vm }\n'


@pytest.fixture
def night(moto: Server, tmp_path: Path) -> tuple[Project, str]:
    """An empty folder on some machine, and the place of a ledger in which an apply has failed half-way."""
    moto.make_bucket("night")
    work = Project(tmp_path / "work", s3_servers.environment())
    work.root.mkdir()
    work.write(STACK.format(state=moto.state("night")), network=NETWORK, vm=VM, health=HEALTH)
    assert work.apply("-e", "prod").code == 4
    empty = tmp_path / "empty"
    empty.mkdir()
    environ = {**s3_servers.environment(), "HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": ""}
    return Project(
        empty, environ
    ), f"s3://night/hybridwrap?endpoint={moto.endpoint}&region=us-east-1&use_path_style=true"


def test_what_happened_is_told_without_a_checkout_and_nothing_is_left_behind(night: tuple[Project, str]) -> None:
    project, ledger = night
    status = project.call("status", "--ledger", ledger)
    assert status.code == 0, status.text
    assert "shop in prod   1 error, 1 pending, 1 ok" in status.out
    assert "vm/main.tf:5" in status.out
    (line,) = (line for line in status.out.splitlines() if line.startswith("next: "))
    assert line.startswith("next: hybridwrap why --ledger ")

    found = {m["module"]: m for m in project.call("status", "--json", "--ledger", ledger).json["modules"]}
    assert {name: module["status"] for name, module in found.items()} == {
        "network": "ok",
        "vm": "error",
        "health": "pending",
    }
    assert found["health"]["depends_on"] == ["vm"]

    why = project.call("why", "health", "--ledger", ledger)
    assert "Error running command 'false'" in why.out
    assert why.out.splitlines()[-1] == "next: once repaired: hybridwrap resume"
    assert "1 error, 1 pending, 1 ok" in project.call("history", "--ledger", ledger).out
    assert "vm" in project.call("show", "--ledger", ledger).out
    assert project.call("report", "--format", "json", "--ledger", ledger).json["stack"] == "shop"
    assert "net-1" in project.call("output", "network", "--ledger", ledger).out
    assert "health" in project.call("graph", "--ledger", ledger).out

    reconciled = {m["module"]: m for m in project.run("reconcile", "--json", "--ledger", ledger).json["modules"]}
    assert reconciled["vm"]["verdict"] == "partly_applied"
    assert any("serial" in line for line in reconciled["vm"]["evidence"])  # the state was read in its place
    assert list(project.root.iterdir()) == []


def test_what_can_not_be_is_said_with_what_there_is(night: tuple[Project, str]) -> None:
    project, ledger = night
    for words, told in (
        (["status", "--ledger", ledger, "-e", "qa"], 'no environment "qa" in that ledger; there are: prod'),
        (["status", "--ledger", ledger, "--stack", "x"], 'no stack "x" in that ledger; there are: shop'),
        (["status", "--ledger", ledger.replace("/hybridwrap?", "/?")], "there is no ledger at"),
        (["status", "--ledger", "s3://night/x?colour=red"], "colour is nothing that a ledger in S3 has"),
        (["status", "--stack", "x"], "--stack is for --ledger"),
        (["status", "-f", "x", "--ledger", ledger], "contradict each other"),
        (["reconcile", "--apply-verdicts", "--ledger", ledger], "nothing is put right without the manifest"),
    ):
        ran = project.run(*words)
        assert (ran.code, told in ran.err) == (64, True), ran.text
