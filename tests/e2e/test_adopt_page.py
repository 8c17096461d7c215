"""Every transcript of the page about adopting is what is printed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support import s3_servers
from tests.support.engines import engines
from tests.support.pages import Check, Screen
from tests.support.project import Project
from tests.support.s3_servers import Server

pytestmark = pytest.mark.e2e

DATA = Path(__file__).parents[1] / "data" / "terragrunt"
MODULES = {
    "network": 'resource "terraform_data" "it" { input = "10.0.0.0/16" }\n'
    'output "cidr" { value = terraform_data.it.output }\n',
    "vm": """
data "terraform_remote_state" "network" {
  backend = "local"
  config  = { path = "../network/terraform.tfstate" }
}
variable "size" { type = string }
resource "terraform_data" "it" { input = "${var.size} in ${data.terraform_remote_state.network.outputs.cidr}" }
""",
}
NIGHT = """
version: 1
stack: shop
state:
  s3: {bucket: acme-state, region: us-east-1, use_path_style: true, skip_credentials_validation: true,
       skip_requesting_account_id: true, skip_metadata_api_check: true}
modules:
  network: {source: network}
  vm: {source: vm, inputs: {cidr: "{{ modules.network.cidr }}"}}
  health: {source: health, depends_on: [vm]}
"""
FAILING = """
variable "cidr" {}
resource "terraform_data" "web" {
  input = var.cidr
  provisioner "local-exec" { command = "echo 'no capacity in eu-central-1a'; exit 1" }
}
"""


def test_plain_terraform(tmp_path: Path, check: Check) -> None:
    engine = next(engine for engine in engines().values() if engine)
    project = Project(tmp_path / "shop")
    for name, text in MODULES.items():
        folder = project.root / "live" / name
        folder.mkdir(parents=True)
        (folder / "main.tf").write_text(text)
        if name == "vm":
            (folder / "terraform.tfvars").write_text('size = "small"\n')
        engine.must(folder, "init", "-input=false", env=project.env)
        engine.must(folder, "apply", "-input=false", "-auto-approve", env=project.env)
    screen = Screen(project)
    screen.type("hybridwrap new --stdout")
    screen.type("hybridwrap new")
    screen.type("hybridwrap adopt --all")
    screen.type("hybridwrap plan")
    check("adopt-terraform", screen)


def test_terragrunt(tmp_path: Path, check: Check) -> None:
    shutil.copytree(DATA, tmp_path / "infra")
    shutil.rmtree(tmp_path / "infra" / "live" / "dev" / "dns")  # a remote source has a story of its own
    screen = Screen(Project(tmp_path / "infra"))
    screen.type("hybridwrap new --from-terragrunt live")
    check("adopt-terragrunt", screen)


def test_an_incident_at_night(moto: Server, tmp_path: Path, check: Check) -> None:
    moto.make_bucket("acme-state")
    environ = {**s3_servers.environment(), "AWS_ENDPOINT_URL_S3": moto.endpoint, "HOME": str(tmp_path / "home")}
    work = Project(tmp_path / "work", environ)
    work.root.mkdir()
    work.write(NIGHT, network=MODULES["network"], vm=FAILING, health='resource "terraform_data" "it" {}\n')
    assert work.apply().code == 4
    empty = Project(tmp_path / "empty", environ)
    empty.root.mkdir()
    screen = Screen(empty)
    screen.type("hybridwrap status --ledger s3://acme-state/hybridwrap")
    screen.type("hybridwrap why health --ledger s3://acme-state/hybridwrap")
    screen.type("hybridwrap reconcile --ledger s3://acme-state/hybridwrap")
    screen.lines = [line.replace(str(work.root), "/home/bob/shop") for line in screen.lines]
    check("adopt-night", screen)
    assert list(empty.root.iterdir()) == []
