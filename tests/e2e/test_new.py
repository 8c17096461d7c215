"""`new` on modules that were run without hybridwrap: their manifest, then adopt, then a plan without changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.engines import engines
from tests.support.project import Project

pytestmark = pytest.mark.e2e

NETWORK = """
resource "terraform_data" "net" { input = "10.0.0.0/16" }
output "cidr" { value = terraform_data.net.output }
"""
VM = """
data "terraform_remote_state" "network" {
  backend = "local"
  config  = { path = "../network/terraform.tfstate" }
}
variable "size" { type = string }
resource "terraform_data" "vm" { input = "${var.size} in ${data.terraform_remote_state.network.outputs.cidr}" }
output "id" { value = terraform_data.vm.id }
"""


@pytest.fixture
def project(tmp_path: Path, engine_program: str) -> Project:
    """Two modules that the engine alone has applied."""
    engine = engines()[engine_program]
    assert engine
    project = Project(tmp_path / "shop", {"TF_VAR_size": "small"})
    for name, text in (("network", NETWORK), ("vm", VM)):
        folder = project.root / "live" / name
        folder.mkdir(parents=True)
        (folder / "main.tf").write_text(text)
        engine.must(folder, "init", "-input=false", env=project.environ)
        engine.must(folder, "apply", "-input=false", "-auto-approve", env=project.environ)
    return project


def test_from_modules_that_exist_to_a_plan_without_changes_in_three_commands(
    project: Project, engine_program: str
) -> None:
    ran = project.run("new")
    assert ran.code == 0, ran.text
    assert "2 modules: network, vm" in ran.out
    assert "next: hybridwrap adopt --all" in ran.out
    manifest = project.root / "hybridwrap.yaml"
    manifest.write_text(f"engine: {{program: {engine_program}}}\n" + manifest.read_text())

    assert project.call("validate").code == 0
    assert project.run("adopt", "--all").code == 0
    assert project.statuses() == {"network": "ok", "vm": "ok"}
    planned = project.run("plan", "--detailed-exitcode")
    assert planned.code == 0, planned.text
    assert "2 unchanged" in planned.out


def test_a_module_without_a_state_keeps_no_other_one_from_being_adopted(project: Project) -> None:
    assert project.run("new").code == 0
    (project.root / "live" / "network" / "terraform.tfstate").unlink()
    ran = project.run("adopt", "--all")
    assert ran.code == 0, ran.text
    told = "nothing to adopt: there is no state at live/network/terraform.tfstate (local)"
    assert told in ran.text
    assert "1 ok, 1 empty" in ran.out
    assert project.statuses() == {"network": "none", "vm": "ok"}
    named = project.run("adopt", "network", "vm")
    assert named.code == 10
    assert told in named.text
    assert "hybridwrap apply network" in named.out
    assert "1 unchanged, 1 refused" in named.out


def test_what_is_missing_is_named_and_the_manifest_is_there_all_the_same(project: Project) -> None:
    project.environ = {}
    ran = project.run("new", "--stack", "other")
    assert ran.code == 0
    assert 'live/vm needs a value for "size", which has no default' in ran.out
    assert "next: look for TODO in it" in ran.out
    assert project.call("validate").code == 10
    assert "stack: other\n" in (project.root / "hybridwrap.yaml").read_text()


def test_a_manifest_that_is_there_is_never_touched(project: Project) -> None:
    manifest = project.root / "hybridwrap.yaml"
    manifest.write_text("mine")
    ran = project.run("new")
    assert ran.code == 10
    assert "nothing was written" in ran.err
    assert "hybridwrap new --stdout" in ran.err
    shown = project.run("new", "--stdout")
    assert shown.code == 0
    assert shown.out.startswith("# A stack for hybridwrap")
    assert manifest.read_text() == "mine"


def test_what_is_no_folder_or_holds_no_module_is_wrong_usage(project: Project) -> None:
    ran = project.run("new", "nowhere")
    assert ran.code == 64
    assert "nowhere" in ran.err
    (project.root / "empty").mkdir()
    assert project.run("new", "empty").code == 64
