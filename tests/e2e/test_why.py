"""`why`: the chain behind a pending module, with person, run, errors, place and log, and one command at its end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.project import Project

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
engine: {program: ENGINE}
modules:
  vm: {source: vm}
  health: {source: health, inputs: {address: "{{ modules.vm.address }}"}}
  docs: {source: docs, depends_on: [health]}
"""
VM = """
resource "terraform_data" "web" {
  provisioner "local-exec" { command = "test -e fixed" }
}
output "address" { value = terraform_data.web.id }
"""
HEALTH = 'variable "address" { type = string }\nresource "terraform_data" "it" { input = var.address }\n'
DOCS = 'resource "terraform_data" "it" {}\n'


@pytest.fixture
def project(tmp_path: Path, engine_program: str) -> Project:
    project = Project(tmp_path)
    project.write(STACK.replace("ENGINE", engine_program), vm=VM, health=HEALTH, docs=DOCS)
    return project


def ledger_files(project: Project) -> dict[str, bytes]:
    ledger = project.root / ".hybridwrap" / "ledger"
    return {str(file): file.read_bytes() for file in ledger.rglob("*") if file.is_file()}


def test_the_chain_is_told_up_to_the_cause_with_all_that_is_needed_to_repair_it(project: Project) -> None:
    assert project.apply().code == 4
    before = ledger_files(project)

    ran = project.call("why", "docs")

    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "docs    pending   waits for health"
    assert re.fullmatch(r" {8}apply \w{26}  \d\d:\d\d:\d\d \S+  by \S+@\S+", lines[1])
    assert lines[2] == "health  pending   waits for vm.address"
    assert lines[4].startswith("vm      error     terraform_data.web: ")
    assert lines[4].endswith("vm/main.tf:3")
    assert lines[5].strip().startswith("Error running command 'test -e fixed': exit status 1")
    assert re.fullmatch(r" {8}log: \.hybridwrap/operations/\w{26}/events\.jsonl on \S+", lines[-2])
    assert lines[-1] == "next: once repaired: hybridwrap resume"
    assert ledger_files(project) == before, "looking changes nothing"

    (project.root / "vm" / "fixed").touch()
    assert project.run("resume", "--auto-approve").code == 0
    assert "nothing to do" in project.call("why", "docs").out


def test_programs_get_the_same_as_one_object(project: Project) -> None:
    project.apply()
    found = project.call("why", "health", "--json").json
    assert [(step["module"], step["status"], step["waits_for"]) for step in found["chain"]] == [
        ("health", "pending", "vm.address"),
        ("vm", "error", ""),
    ]
    assert found["chain"][1]["errors"][0]["file"] == "main.tf"
    assert (found["version"], found["module"], found["next"]) == (1, "health", "hybridwrap resume")


def test_it_can_be_asked_before_anything_was_run_and_refuses_what_is_no_module(project: Project) -> None:
    ran = project.call("why", "vm")
    assert ran.code == 0
    assert ran.out.splitlines() == ["vm  none", "next: hybridwrap apply vm"]
    assert not (project.root / ".hybridwrap" / "ledger").exists()
    assert project.call("why", "wm").code == 64
