"""What is printed for programs fits its schema, in every state of a module that a run can leave."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from hybridwrap.adapters.schemas import load_schema
from hybridwrap.domain.json import Json
from tests.support.project import Project

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
engine: {program: ENGINE}
modules:
  base: {source: base, inputs: {password: {from_env: PASSWORD}}}
  top: {source: top, owner: base, inputs: {id: "{{ modules.base.id }}"}}
"""
BASE = """
variable "password" {
  type      = string
  sensitive = true
}
variable "fail" {
  type    = bool
  default = false
}
resource "terraform_data" "one" { input = var.password }
resource "terraform_data" "two" {
  triggers_replace = [var.fail]
  provisioner "local-exec" { command = "! ${var.fail}" }
}
output "id" { value = terraform_data.two.id }
output "password" {
  value     = terraform_data.one.output
  sensitive = true
}
output "big" { value = 12345678901234567890.123 }
"""
TOP = 'variable "id" { type = string }\nresource "terraform_data" "it" { input = var.id }\n'
SECRET = "hunter2-hunter2"


def fits(schema: str, document: Json) -> None:
    validator = Draft202012Validator(load_schema(schema))
    validator.check_schema(load_schema(schema))
    validator.validate(document)


@pytest.fixture
def project(tmp_path: Path, engine_program: str) -> Project:
    project = Project(tmp_path, {"PASSWORD": SECRET})
    project.write(STACK.replace("ENGINE", engine_program), base=BASE, top=TOP)
    return project


def test_json_fits_its_schema_and_holds_no_secret(project: Project) -> None:
    fits("status.v1", project.run("status", "--json").json)
    for argv in ((), ("-var", "fail=true"), ()):
        ran = project.run("apply", "--auto-approve", "--json", *argv)
        for line in ran.lines:
            fits("events.v1", line)
        assert [line["resource_type"] for line in ran.lines if line["type"] == "object"], "steps of objects are told"
        last = ran.lines[-1]
        assert (last["type"], last["exit_code"]) == ("result", ran.code)
        for command, schema in (("status", "status.v1"), ("output", "output.v1")):
            told = project.run(command, "--json")
            fits(schema, told.json)
            assert SECRET not in told.text
        assert SECRET not in ran.text


def test_a_pending_module_says_what_it_was_and_waits_for(project: Project) -> None:
    assert project.apply().code == 0
    assert project.apply("-var", "fail=true").code == 4
    top = project.status()["top"]
    assert (top["status"], top["was"], top["owner"], top["depends_on"]) == ("pending", "ok", "base", ["base"])
    assert top["reason"] == "waits for base.id"


def test_numbers_that_no_float_can_hold_come_out_as_they_went_in(project: Project) -> None:
    assert project.apply().code == 0
    assert "12345678901234567890.123" in project.run("output", "base", "--json").out
    assert project.run("output", "base", "big", "--raw").out == "12345678901234567890.123\n"
    assert project.run("output", "base.big", "--raw").out == "12345678901234567890.123\n"
    assert project.run("unlock", "bse").err.startswith("neither stack")
    assert "did you mean base?" in project.run("unlock", "bse").err
    assert project.run("output", "bse").err.startswith("there is no module bse; did you mean base?\n")


def test_sensitive_values_are_shown_only_on_request(project: Project) -> None:
    assert project.apply().code == 0
    assert project.run("output", "base", "password", "--raw").code == 64
    assert project.run("output", "base", "password", "--raw", "--show-sensitive").out == f"{SECRET}\n"
