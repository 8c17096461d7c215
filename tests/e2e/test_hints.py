"""Every command that is told to be typed next is for the environment and the manifest that the call was about."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.support.project import Project

pytestmark = pytest.mark.e2e

MANIFEST = """
version: 1
stack: shop
environments: {dev: {}, prod: {}}
modules:
  bad: {source: bad}
  after: {source: after, depends_on: [bad]}
"""
FAILS = 'resource "terraform_data" "x" {\n  provisioner "local-exec" { command = "exit 3" }\n}\n'
FINE = 'resource "terraform_data" "x" {}\n'
COMMAND = re.compile(r"hybridwrap (?:apply|destroy|list|output|plan|reconcile|resume|status|why)\b[^;\"]*")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    if not shutil.which("terraform"):
        pytest.skip("needs terraform")
    project = Project(tmp_path, {"HYBRIDWRAP_ENVIRONMENT": "prod"})
    project.write(MANIFEST, bad=FAILS, after=FINE)
    return project


def test_hints_stay_in_the_environment_and_the_manifest_of_the_call(project: Project) -> None:
    there = ("-e", "dev", "-f", "hybridwrap.yaml")
    told = [
        project.run("apply", *there).err,
        project.run("apply", "--auto-approve", *there).text,
        project.call("status", *there).text,
        project.call("why", "after", *there).text,
        project.call("why", "after", "--json", *there).text,
        project.call("why", "afte", *there).text,
        project.run("reconcile", *there).text,
        project.run("reconcile", "--json", *there).text,
        project.call("report", *there).text.split("by ", 1)[1].split("\n", 2)[2],
        project.run("apply", "nothing", "--auto-approve", "--json", *there).text,
    ]
    for text in told:
        commands = COMMAND.findall(text)
        assert commands, text
        for command in commands:
            assert "-e dev -f hybridwrap.yaml" in command, text


def test_what_doctor_says_to_type_is_for_the_call_too(project: Project) -> None:
    (project.root / "after/main.tf").write_text("not a module")
    told = project.call("doctor", "-e", "dev", "-f", "hybridwrap.yaml").out
    assert "hybridwrap validate -e dev -f hybridwrap.yaml    says all of it" in told
    checks = project.call("doctor", "--json", "-e", "dev", "-f", "hybridwrap.yaml").json["checks"]
    assert any("hybridwrap validate -e dev" in check["fix"] for check in checks)


def test_the_evidence_of_reconcile_names_the_call_in_its_commands(project: Project) -> None:
    there = ("-e", "dev", "-f", "hybridwrap.yaml")
    assert project.run("apply", "after", "--auto-approve", *there).code == 0
    (project.root / ".hybridwrap/state/dev/after.tfstate").unlink()
    for text in (project.run("reconcile", *there).text, project.run("reconcile", "--json", *there).text):
        assert text.count("--absent") >= 1
        for command in COMMAND.findall(text):
            assert "-e dev -f hybridwrap.yaml" in command, text
