"""Every transcript on the page about layers is what is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.pages import Check, Screen
from tests.support.project import Project
from tests.support.two_stacks import NET_STACK, write_two_stacks

MAIN = """version: 1
stack: shop
include: ["live/*/hybridwrap.yaml"]
defaults:
  inputs: {tags: {stack: shop}}
environments:
  dev: {}
  prod:
    modules: {vm: {inputs: {size: large}}}
"""
NET = """modules:
  network: {source: network, inputs: {cidr: 10.0.0.0/16}}
"""
WEB = """defaults:
  inputs: {tags: {team: web}}
modules:
  vm: {source: vm, inputs: {subnet_id: "{{ modules.network.subnet_id }}"}}
  debug: {source: vm, inputs: {subnet_id: none}}
environments:
  prod:
    modules:
      cache: {source: cache}
      debug: {enabled: false}
"""
NETWORK = """variable "cidr" { type = string }
output "subnet_id" { value = "subnet-${var.cidr}" }
"""
VM = """variable "subnet_id" { type = string }
variable "size" { default = "small" }
variable "tags" {
  type    = map(string)
  default = {}
}
resource "terraform_data" "vm" { input = "${var.subnet_id} ${var.size}" }
output "address" { value = "10.0.0.7" }
"""
EACH = """version: 1
stack: shop
modules:
  network: {source: live/net/network, inputs: {cidr: 10.0.0.0/16}}
  vm:
    source: live/web/vm
    for_each:
      web: {size: small}
      db:  {size: large}
    inputs:
      subnet_id: "{{ modules.network.subnet_id }}"
      size: "{{ each.value.size }}"
  balancer:
    source: balancer
    inputs:
      first: "{{ modules.vm.web.address }}"
      all:   "{{ modules.vm['*'].address }}"
"""
BALANCER = """variable "first" { type = string }
variable "all" { type = map(string) }
resource "terraform_data" "pool" { input = [var.first, var.all] }
output "backends" { value = keys(var.all) }
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root)
    sources = {"live/net/network": NETWORK, "live/web/vm": VM, "live/web/cache": 'resource "terraform_data" "c" {}\n'}
    project.write(MAIN, **sources)
    (root / "live/net/hybridwrap.yaml").write_text(NET)
    (root / "live/web/hybridwrap.yaml").write_text(WEB)
    return project


@pytest.fixture
def screen(project: Project) -> Screen:
    return Screen(project)


def test_wrong(project: Project, screen: Screen, check: Check) -> None:
    file = project.root / "live/web/hybridwrap.yaml"
    file.write_text(WEB + "ledger: {folder: x}\n")
    screen.type("hybridwrap validate -e dev")
    file.write_text(WEB.replace("modules.network.", "modules.netwrok.").replace("debug:", "network:"))
    screen.type("hybridwrap validate -e dev")
    check("layers-wrong", screen)


def test_environments(screen: Screen, check: Check) -> None:
    screen.type("hybridwrap list -e dev")
    screen.type("hybridwrap list -e prod")
    check("layers-environments", screen)


@pytest.mark.e2e
def test_each(project: Project, screen: Screen, check: Check) -> None:
    project.write(EACH, balancer=BALANCER)
    screen.type("hybridwrap apply --auto-approve --parallelism 1")
    screen.type("hybridwrap output vm")
    assert project.outputs()["balancer"]["backends"]["value"] == ["db", "web"]
    renamed = EACH.replace("db:", "data:")
    project.write(renamed)
    screen.type("hybridwrap status")
    told = screen.type("hybridwrap mv vm.db vm.data")
    (setting,) = re.findall(r"\.yaml:\d+\): (.*)", told)
    project.write(f"{renamed}  vm.data: {{{setting}}}\n")
    screen.type("hybridwrap mv vm.db vm.data")
    screen.type("hybridwrap apply --auto-approve --parallelism 1 vm")
    check("layers-each", screen)


@pytest.mark.e2e
def test_stacks(project: Project, screen: Screen, check: Check) -> None:
    net = write_two_stacks(project)
    apply = "hybridwrap apply --auto-approve"
    screen.type(apply)
    screen.type(f"{apply} -f ../net/hybridwrap.yaml")
    screen.type(apply)
    (net.root / "vpc/broken").touch()
    net.write(NET_STACK.replace("10.0", "10.9"))
    assert net.apply().code == 4
    screen.type(f"{apply} --skip-unchanged")
    screen.type("hybridwrap why health")
    (net.root / "vpc/broken").unlink()
    assert net.apply().code == 0
    screen.type(f"{apply} --skip-unchanged")
    assert "hunter2" not in screen.text
    kept = [
        file for file in (project.root / ".hybridwrap").rglob("*") if file.is_file() and b"hunter2" in file.read_bytes()
    ]
    assert {file.parent.name for file in kept} == {"default"}  # the engine's own states, and their backups
    assert {file.parent.parent.name for file in kept} == {"state"}
    screen.lines = [line.replace(str(net.root), "/home/ana/net") for line in screen.lines]
    check("layers-stacks", screen)
