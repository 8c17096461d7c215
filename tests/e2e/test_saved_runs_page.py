"""Every transcript on the page about saved runs is what is printed."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest

from tests.support.pages import Check, Screen
from tests.support.project import Project

MANIFEST = """version: 1
stack: shop
ledger: {encryption: {key_from_env: HYBRIDWRAP_KEY}}
modules:
  network: {source: network}
  dns: {source: dns, depends_on: [network]}
  vm: {source: vm, inputs: {subnet_id: "{{ modules.network.subnet_id }}"}}
"""
NETWORK = """resource "terraform_data" "network" { input = "10.0.0.0/16" }
output "subnet_id" { value = "subnet-${terraform_data.network.output}" }
"""
DNS = """resource "terraform_data" "zone" { input = "shop.example" }
"""
VM = """variable "subnet_id" { type = string }
resource "terraform_data" "vm" { input = var.subnet_id }
"""


@pytest.fixture
def screen(tmp_path: Path) -> Screen:
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, {"HYBRIDWRAP_KEY": base64.b64encode(b"k" * 32).decode()})
    project.write(MANIFEST, network=NETWORK, dns=DNS, vm=VM)
    return Screen(project)


def plan(screen: Screen) -> str:
    """Plan quietly; return the id of the run."""
    printed = screen.type("hybridwrap plan --save --json")
    screen.lines.clear()
    found = re.findall(r'"run":"(\w{26})"', printed)
    return str(found[-1])


def test_plan_and_apply(screen: Screen, check: Check) -> None:
    printed = screen.type("hybridwrap plan --save")
    plans, counted, told = printed.rpartition("2 planned, ")
    assert "terraform_data.network will be created" in plans
    screen.lines[-1] = f"…\n{counted}{told}"
    run = re.findall(r"saved as run (\w{26})", told)[0]
    screen.type(f"hybridwrap apply --run {run}")
    screen.type(f"hybridwrap apply --run {run}")
    check("saved-apply", screen)


def test_moved(screen: Screen, check: Check) -> None:
    run = plan(screen)
    (screen.project.root / "dns/main.tf").write_text(DNS + 'resource "terraform_data" "record" {}\n')
    screen.type(f"hybridwrap apply --run {run}")
    check("saved-moved", screen)
