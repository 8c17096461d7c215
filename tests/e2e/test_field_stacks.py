"""Stacks that people reported to end half-applied, from their descriptions: what is known, what waits, what goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.project import Project

pytestmark = pytest.mark.e2e

PARTIAL_NETWORK = """
resource "terraform_data" "vpc" { input = "vpc-1" }
resource "terraform_data" "db" {
  input = terraform_data.vpc.output
  provisioner "local-exec" { command = "test -e ../fixed" }
}
resource "terraform_data" "cache" { input = terraform_data.db.output }
output "vpc_id" { value = terraform_data.vpc.output }
output "db_id" { value = terraform_data.db.output }
output "cache_id" { value = terraform_data.cache.output }
output "pair" { value = { vpc = terraform_data.vpc.output, db = terraform_data.db.output } }
output "region" { value = "eu-1" }
"""
APP = """
variable "vpc_id" { type = string }
variable "db_id" { type = string }
resource "terraform_data" "app" { input = "${var.vpc_id}/${var.db_id}" }
"""
ZONE = 'variable "vpc_id" { type = string }\nresource "terraform_data" "zone" { input = var.vpc_id }\n'
DOCS = """
resource "terraform_data" "docs" {
  provisioner "local-exec" { command = "echo docs >> ../ran.log" }
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_first_apply_that_fails_half_way_leaves_some_outputs_known_and_the_others_missing(
    project: Project, engine_program: str
) -> None:
    project.write(
        f"""
version: 1
stack: shop
engine: {{program: {engine_program}}}
modules:
  net: {{source: net}}
  app: {{source: app, inputs: {{vpc_id: "{{{{ modules.net.vpc_id }}}}", db_id: "{{{{ modules.net.db_id }}}}"}}}}
  zone: {{source: zone, inputs: {{vpc_id: "{{{{ modules.net.vpc_id }}}}"}}}}
  docs: {{source: docs}}
""",
        net=PARTIAL_NETWORK,
        app=APP,
        zone=ZONE,
        docs=DOCS,
    )

    assert project.apply().code == 4

    outputs = project.outputs()["net"]
    assert {name: output["provenance"] for name, output in outputs.items()} == {
        "vpc_id": "known",
        "region": "known",
        "db_id": "missing",
        "cache_id": "missing",
        "pair": "missing",
    }
    status = project.status()
    assert {name: module["status"] for name, module in status.items()} == {
        "net": "error",
        "app": "pending",
        "zone": "pending",
        "docs": "ok",
    }
    assert status["app"]["reason"] == "waits for net.db_id"
    assert status["zone"]["reason"] == "waits for net; its inputs are known"

    alone = project.apply("zone")
    assert alone.code == 0, "outside the selection, an error upstream is no obstacle when all inputs are known"
    assert project.apply("app").code == 10, "a value that is missing is never made up"

    (project.root / "fixed").touch()
    assert project.apply().code == 0
    assert (project.root / "ran.log").read_text() == "docs\n", "docs was not done again"


def test_an_output_that_is_null_by_design_is_passed_on_as_null(project: Project, engine_program: str) -> None:
    project.write(
        f"""
version: 1
stack: shop
engine: {{program: {engine_program}}}
modules:
  up: {{source: up}}
  down:
    source: down
    inputs: {{public_id: "{{{{ modules.up.public_id }}}}", shape: "{{{{ modules.up.obj }}}}"}}
""",
        up='output "public_id" { value = null }\noutput "obj" { value = { set = "yes", unset = null } }\n',
        down="""
variable "public_id" {
  type    = string
  default = "none"
}
variable "shape" { type = any }
output "is_null" { value = var.public_id == null }
output "inner_is_null" { value = var.shape.unset == null }
""",
    )
    ran = project.apply()
    assert ran.code == 0, ran.text
    down = project.outputs()["down"]
    assert (down["is_null"]["value"], down["inner_is_null"]["value"]) == (True, True)


def test_a_secret_is_nowhere_but_in_the_state(project: Project, engine_program: str) -> None:
    secret = "SECRET-FAKE-69"
    project.write(
        f"""
version: 1
stack: shop
engine: {{program: {engine_program}}}
modules:
  up: {{source: up, inputs: {{token: {{from_env: TOKEN}}}}}}
  down: {{source: down, inputs: {{token: "{{{{ modules.up.token }}}}"}}}}
""",
        up="""
variable "token" {
  type      = string
  sensitive = true
}
resource "terraform_data" "it" { input = var.token }
output "token" {
  value     = terraform_data.it.output
  sensitive = true
}
""",
        down="""
variable "token" {
  type      = string
  sensitive = true
}
resource "terraform_data" "it" {
  input = var.token
  provisioner "local-exec" { command = "ps -eo args > ../ps.log; echo ${var.token}; exit 1" }
}
""",
    )
    project = Project(project.root, {"TOKEN": secret})
    texts = [project.apply(), project.apply("--json"), project.call("status", "--json"), project.call("show")]
    texts += [project.call("output", "--json"), project.call("render", "down")]
    assert [ran.code for ran in texts] == [4, 4, 0, 0, 0, 0]
    assert not [ran.text for ran in texts if secret in ran.text]
    arguments = [line for line in (project.root / "ps.log").read_text().splitlines() if "ps -eo" not in line]
    assert not [line for line in arguments if secret in line]
    kept = [
        file
        for file in (project.root / ".hybridwrap").rglob("*")
        if file.is_file() and secret.encode() in file.read_bytes()
    ]
    assert {file.parent.relative_to(project.root / ".hybridwrap") for file in kept} == {Path("state/default")}
