"""`apply --skip-unchanged`: no engine for what nothing has changed of, a plan for all else, and the reason for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.prepared import Prepared
from tests.support.project import Project, Ran

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
engine: {program: ENGINE}
modules:
  base: {source: base, inputs: {size: small}}
  top: {source: top, inputs: {id: "{{ modules.base.id }}"}}
"""
BASE = """
variable "size" { type = string }
variable "secret" {
  type      = string
  default   = ""
  sensitive = true
}
resource "terraform_data" "one" { triggers_replace = var.size }
output "id" { value = terraform_data.one.id }
"""
TOP = 'variable "id" { type = string }\nresource "terraform_data" "it" { input = var.id }\n'


@pytest.fixture
def project(tmp_path: Path, engine_program: str, prepared: Prepared) -> Project:
    manifest = STACK.replace("ENGINE", engine_program)
    return prepared.applied(Project(tmp_path), f"skip-unchanged-{engine_program}", manifest, base=BASE, top=TOP)


def planned(ran: Ran) -> list[str]:
    return [line["module"] for line in ran.lines if line["type"] == "phase" and line["phase"] == "plan"]


def warnings(ran: Ran) -> dict[str, str]:
    return {line["module"]: line["text"] for line in ran.lines if line["type"] == "warning"}


def edit(project: Project, old: str, new: str, file: str = "hybridwrap.yaml") -> None:
    path = project.root / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_unchanged_modules_start_no_engine_and_what_was_not_looked_for_is_said_once(project: Project) -> None:
    ran = project.apply("--skip-unchanged", "--json")
    assert ran.code == 0, ran.text
    assert not [line for line in ran.lines if line["type"] == "phase"]
    ends = {line["module"]: line for line in ran.lines if line["type"] == "module_ended"}
    assert {name: (end["result"], end["skipped"]) for name, end in ends.items()} == {
        "base": ("unchanged", True),
        "top": ("unchanged", True),
    }
    notes = [
        line["text"] for line in ran.lines if line["type"] == "note" and "Drift was not looked for" in line["text"]
    ]
    assert len(notes) == 1
    assert notes[0].startswith("2 of 2 not planned: nothing that goes into them has changed.")
    assert set(project.statuses().values()) == {"ok"}


@pytest.mark.parametrize(
    ("change", "who", "why"),
    [
        (lambda p: edit(p, "size: small", "size: large"), "base", "its inputs have changed"),
        (lambda p: edit(p, 'output "id"', '# new\noutput "id"', "base/main.tf"), "base", "its files have changed"),
        (
            lambda p: (p.root / "base" / ".terraform.lock.hcl").write_text("# by hand\n"),
            "base",
            "its dependency lock file has changed",
        ),
        (
            lambda p: p.run("tf", "base", "--", "taint", "terraform_data.one"),
            "base",
            "it was not planned since tf taint",
        ),
    ],
    ids=["inputs", "files", "lock file", "taint"],
)
def test_whatever_has_changed_is_planned_and_said(
    project: Project, change: Callable[[Project], object], who: str, why: str
) -> None:
    change(project)
    ran = project.apply("--skip-unchanged", "--json", "base")
    assert planned(ran) == [who]
    assert warnings(ran)[who] == f"planned, not skipped: {why}"
    assert planned(project.apply("--skip-unchanged", "--json", "base")) == []


def test_an_output_that_has_changed_plans_what_uses_it(project: Project) -> None:
    edit(project, "size: small", "size: large")
    assert project.apply("base").code == 0
    ran = project.apply("--skip-unchanged", "--json")
    assert planned(ran) == ["top"]
    assert warnings(ran) == {"top": "planned, not skipped: outputs that it uses have changed"}


def test_a_plan_that_is_too_old_is_made_again(project: Project) -> None:
    assert planned(project.apply("--skip-unchanged=1h", "--json")) == []
    ran = project.apply("--skip-unchanged=0", "--json", "base")
    assert planned(ran) == ["base"]
    assert warnings(ran)["base"].endswith("more than 0s ago")


def test_a_plan_of_a_part_proves_nothing_of_the_whole(project: Project) -> None:
    edit(project, 'output "id"', 'resource "terraform_data" "two" {}\noutput "id"', "base/main.tf")
    assert project.apply("base", "-target", "terraform_data.one").code == 0
    ran = project.apply("--skip-unchanged", "--json", "base")
    assert planned(ran) == ["base"]
    edit(project, "size: small", "size: large")
    assert project.apply("base", "-target", "terraform_data.one").code == 0
    ran = project.apply("--skip-unchanged", "--json", "base")
    assert planned(ran) == ["base"]
    assert warnings(ran)["base"] == "planned, not skipped: there is no record of all that it was made from"


def test_a_secret_without_a_key_is_never_skipped(project: Project) -> None:
    edit(project, "size: small", "size: small, secret: {from_env: SECRET}")
    assert project.apply("base", SECRET="hunter2").code == 0
    ran = project.apply("--skip-unchanged", "--json", "base", SECRET="hunter2")
    assert planned(ran) == ["base"]
    assert "it has secret inputs, and there is no key" in warnings(ran)["base"]


def test_a_secret_with_a_key_is_skipped_until_it_changes(project: Project) -> None:
    edit(project, "size: small", "size: small, secret: {from_env: SECRET}")
    edit(project, "modules:", "ledger: {folder: ledger, encryption: {key_from_env: KEY}}\nmodules:")
    environ = {"KEY": "Y2hhbmdlIHRoaXMgcGFzc3dvcmQgdG8gYSBzZWNyZXQ=", "SECRET": "hunter2"}
    assert project.apply("base", **environ).code == 0
    assert planned(project.apply("--skip-unchanged", "--json", "base", **environ)) == []
    ran = project.apply("--skip-unchanged", "--json", "base", **{**environ, "SECRET": "hunter3"})
    assert planned(ran) == ["base"]
    assert warnings(ran) == {"base": "planned, not skipped: its inputs have changed"}


def test_an_error_is_planned_whatever_its_digests_say(project: Project) -> None:
    broken = 'resource "terraform_data" "two" {\n  provisioner "local-exec" { command = "test -e ok" }\n}\n'
    edit(project, 'output "id"', f'{broken}output "id"', "base/main.tf")
    assert project.apply("base").code == 4
    assert planned(project.apply("--skip-unchanged", "--json", "base")) == ["base"]


@pytest.mark.parametrize(
    "argv", [("-replace", "terraform_data.one"), ("-target", "terraform_data.one"), ("-refresh-only",)]
)
def test_options_for_a_plan_and_no_plan_contradict_each_other(project: Project, argv: tuple[str, ...]) -> None:
    assert project.apply("--skip-unchanged", *argv).code == 64
