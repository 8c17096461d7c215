"""Reports of real runs: of one that failed, and of one whose runner was killed, from two machines."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from hybridwrap.adapters.schemas import load_schema
from hybridwrap.cli.reports.file import FORMATS as BY_NAME
from tests.support.fakecloud.cloud import Cloud
from tests.support.lost_runner import hanging, kill, write_stack
from tests.support.project import Project

pytestmark = pytest.mark.e2e

FORMATS = tuple(BY_NAME.values())
STACK = """
version: 1
stack: shop
engine: {program: ENGINE}
modules:
  base: {source: modules/base, inputs: {password: {from_env: PASSWORD}, region: here}}
  top: {source: modules/top, inputs: {id: "{{ modules.base.id }}"}}
"""
BASE = """
variable "password" {
  type      = string
  sensitive = true
}
variable "region" { type = string }
resource "terraform_data" "one" { input = var.password }
resource "terraform_data" "two" {
  depends_on = [terraform_data.one]
  provisioner "local-exec" { command = "false" }
}
output "id" { value = terraform_data.one.id }
output "password" {
  value     = terraform_data.one.output
  sensitive = true
}
"""
TOP = 'variable "id" { type = string }\nresource "terraform_data" "it" { input = var.id }\n'
SECRET = "hunter2-hunter2"


@pytest.fixture
def failed(tmp_path: Path, engine_program: str) -> Project:
    project = Project(tmp_path, {"PASSWORD": SECRET})
    project.write(STACK.replace("ENGINE", engine_program), **{"modules/base": BASE, "modules/top": TOP})
    assert project.apply().code == 4
    return project


def test_a_failed_run_is_told_in_every_format_and_none_has_the_secret(failed: Project) -> None:
    for form in FORMATS:
        told = failed.call("report", "--format", form)
        assert (told.code, told.err) == (0, "")
        assert "base" in told.out
        assert SECRET not in told.out


def test_json_has_steps_with_times_places_and_provenance(failed: Project) -> None:
    report = failed.call("report", "--format", "json").json
    Draft202012Validator(load_schema("report.v1")).validate(report)
    base, top = report["modules"]
    assert (base["result"], top["result"], top["waits_for"]) == ("error", "pending", "base")
    assert {(step["address"], step["fate"]) for step in base["steps"] if not step["provisioner"]} == {
        ("terraform_data.one", "done"),
        ("terraform_data.two", "failed"),
    }
    assert all(base["began"] <= step["began"] <= step["ended"] <= base["ended"] for step in base["steps"])
    assert {change["address"]: change["fate"] for change in base["planned"]} == {
        "terraform_data.one": "done",
        "terraform_data.two": "failed",
    }
    assert base["errors"][0]["place"] == "modules/base/main.tf:10"
    assert base["inputs"]["region"]["value"] == "here"
    assert base["outputs"]["password"]["sensitive"]
    assert report["run"]["began"] <= base["began"]
    assert report["next"][-1].startswith("hybridwrap resume ")


def test_an_old_run_is_found_by_the_beginning_of_its_id(failed: Project) -> None:
    run = failed.call("report", "--format", "json").json["run"]["run"]
    assert failed.apply("top").code == 0
    assert failed.call("report", "--format", "json").json["run"]["run"] != run
    assert failed.call("report", run[:-3], "--format", "json").json["run"]["run"] == run


def reports(project: Project, **environ: str) -> dict[str, str]:
    return {form: project.call("report", "--format", form, **environ).out for form in FORMATS}


def test_a_report_is_the_same_before_and_after_the_runner_is_killed_and_on_another_machine(
    tmp_path: Path, cloud: Cloud, fakecloud_env: dict[str, str]
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    project = Project(here, fakecloud_env)
    write_stack(project)
    with hanging(project, cloud, "gate") as process:
        os.kill(process.pid, signal.SIGSTOP)  # what it would do by itself is no matter of its death
        before = reports(project)
        kill(process)
        assert reports(project) == before
        shutil.copytree(here / ".hybridwrap" / "ledger", there / ".hybridwrap" / "ledger")
        write_stack(Project(there))
        elsewhere = {"TZ": "Pacific/Auckland", "USER": "bob", "LOGNAME": "bob"}
        assert reports(Project(there), **elsewhere) == before
    assert '"result": "running"' in before["json"]
    assert "no end is recorded: still at work, or killed" in before["text"]


def test_a_plan_is_reported_for_a_review_though_nothing_of_it_is_recorded(tmp_path: Path, engine_program: str) -> None:
    project = Project(tmp_path, {"PASSWORD": SECRET})
    project.write(STACK.replace("ENGINE", engine_program), **{"modules/base": BASE, "modules/top": TOP})
    assert project.run("plan", "--report", "plan.docx").code == 64
    for name in ("plan.md", "plan.json"):
        assert project.run("plan", "--report", name).code == 0
    report = json.loads((tmp_path / "plan.json").read_text())
    Draft202012Validator(load_schema("report.v1")).validate(report)
    assert [module["result"] for module in report["modules"]] == ["planned", "deferred"]
    assert {change["address"] for change in report["modules"][0]["planned"]} == {
        "terraform_data.one",
        "terraform_data.two",
    }
    markdown = (tmp_path / "plan.md").read_text()
    assert "| deferred | `top` | needs base.id, which this plan would change |" in markdown
    assert "- `hybridwrap apply base top`" in markdown
    assert SECRET not in markdown
    assert project.call("history", "--json").json == []
