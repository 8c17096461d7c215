"""`resume`: what a run left is done, what it has done is left alone; with its own inputs, on any machine."""

from __future__ import annotations

import shutil
from dataclasses import replace  # noqa: TID251  of a dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from hybridwrap.adapters.folder_store import FolderStore
from hybridwrap.domain.entry import End
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.status import Outcome, Status
from tests.support.ledgers import FakeClock, Ids, begin, writer
from tests.support.lost_runner import until_said
from tests.support.prepared import Prepared
from tests.support.project import Project, Ran, interrupt, wait

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
engine: {program: ENGINE}
state: {local: {path: "states/{module}.tfstate"}}
ledger: {folder: ledger}
modules:
  a: {source: a, inputs: {size: small}}
  b: {source: b, inputs: {up: "{{ modules.a.id }}", password: {from_env: PASSWORD}}}
  c: {source: c, inputs: {up: "{{ modules.b.id }}"}}
"""
A = """
variable "size" { type = string }
resource "terraform_data" "it" {
  triggers_replace = var.size
  provisioner "local-exec" { command = "echo a >> ../ran.log" }
}
output "id" { value = terraform_data.it.id }
"""
B = """
variable "up" { type = string }
variable "size" {
  type    = string
  default = "small"
}
variable "password" {
  type      = string
  default   = ""
  sensitive = true
}
resource "terraform_data" "it" {
  input = [var.up, var.size]
  provisioner "local-exec" { command = "echo b >> ../ran.log; test -e ../fixed" }
}
output "id" { value = terraform_data.it.id }
output "size" { value = var.size }
"""
C = """
variable "up" { type = string }
resource "terraform_data" "it" {
  input = var.up
  provisioner "local-exec" { command = "echo c >> ../ran.log" }
}
"""
SECRET = "hunter2"


@pytest.fixture
def project(tmp_path: Path, engine_program: str, prepared: Prepared) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, {"PASSWORD": SECRET})
    manifest, name = STACK.replace("ENGINE", engine_program), f"resume-{engine_program}"
    prepared.applied(project, name, manifest, code=4, a=A, b=B, c=C)
    assert ran_log(project) == ["a", "b"]
    return project


def ran_log(project: Project) -> list[str]:
    return (project.root / "ran.log").read_text().split()


def resume(project: Project, *argv: str, **environ: str) -> Ran:
    return project.run("resume", "--auto-approve", *argv, **environ)


def fix(project: Project) -> None:
    (project.root / "fixed").touch()


def edit(project: Project, old: str, new: str, file: str = "hybridwrap.yaml") -> None:
    path = project.root / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def planned(ran: Ran) -> list[str]:
    return [line["module"] for line in ran.lines if line["type"] == "phase" and line["phase"] == "plan"]


def warnings(ran: Ran) -> dict[str, str]:
    return {line["module"]: line["text"] for line in ran.lines if line["type"] == "warning"}


def ledger_of(project: Project) -> Ledger:
    return Ledger(FolderStore(project.root / "ledger"), "shop", "default", writer(), FakeClock(), Ids("02"))


def newest_run(project: Project) -> Any:
    return project.call("show", "--json").json


def test_it_goes_on_at_the_failed_module_and_does_not_redo_the_finished_ones(project: Project) -> None:
    fix(project)
    ran = resume(project, "--json")
    assert ran.code == 0, ran.text
    assert planned(ran) == ["b", "c"]
    assert ran_log(project) == ["a", "b", "b", "c"]
    assert project.statuses() == {"a": "ok", "b": "ok", "c": "ok"}
    assert newest_run(project)["command"] == "resume"

    again = resume(project, "--json")
    assert again.code == 0
    assert planned(again) == []
    assert [line["text"] for line in again.lines if line["type"] == "note"] == ["no run left anything to do"]
    assert ran_log(project) == ["a", "b", "b", "c"]


def test_a_finished_module_whose_files_have_changed_is_not_skipped_in_silence(project: Project) -> None:
    fix(project)
    edit(project, 'output "id"', '# repaired\noutput "id"', "a/main.tf")
    ran = resume(project, "--json")
    assert ran.code == 0
    assert planned(ran) == ["a", "b", "c"]
    assert warnings(ran) == {"a": "planned, not skipped: its files have changed"}
    assert ran_log(project) == ["a", "b", "b", "c"], "the plan of a was empty"


def test_a_run_that_fails_again_can_be_gone_on_with_again(project: Project) -> None:
    assert resume(project).code == 4
    assert project.statuses() == {"a": "ok", "b": "error", "c": "pending"}
    fix(project)
    assert resume(project).code == 0
    assert ran_log(project) == ["a", "b", "b", "b", "c"]


def test_the_inputs_are_those_of_the_run_and_what_differs_is_said(project: Project) -> None:
    run = newest_run(project)["run"]
    fix(project)
    edit(project, 'up: "{{ modules.a.id }}"', 'up: "{{ modules.a.id }}", size: large')
    ran = resume(project, "--json")
    assert ran.code == 0, ran.text
    assert warnings(ran)["b"] == (
        f'inputs of run {run}, not those of the manifest (--inputs current): size (not set) -> "large"'
    )
    assert project.outputs()["b"]["size"]["value"] == "small"
    assert SECRET not in ran.text


def test_the_inputs_can_be_those_of_the_manifest_as_it_is_now(project: Project) -> None:
    run = newest_run(project)["run"]
    fix(project)
    edit(project, 'up: "{{ modules.a.id }}"', 'up: "{{ modules.a.id }}", size: large')
    ran = resume(project, "--inputs", "current", "--json")
    assert ran.code == 0, ran.text
    assert warnings(ran)["b"] == f'inputs of the manifest, not those of run {run}: size (not set) -> "large"'
    assert project.outputs()["b"]["size"]["value"] == "large"


def test_a_resumed_run_hands_its_inputs_on(project: Project) -> None:
    edit(project, 'up: "{{ modules.a.id }}"', 'up: "{{ modules.a.id }}", size: large')
    assert resume(project).code == 4
    fix(project)
    assert resume(project).code == 0
    assert project.outputs()["b"]["size"]["value"] == "small"


def test_outputs_of_other_modules_are_those_of_now(project: Project) -> None:
    fix(project)
    edit(project, "size: small", "size: large")
    assert project.apply("a").code == 0
    now = project.outputs()["a"]["id"]["value"]
    ran = resume(project, "--json")
    assert ran.code == 0, ran.text
    assert planned(ran) == ["b", "c"], "a was changed by a later run: it is not the business of this one"
    assert ledger_of(project).record("b").inputs["up"].value == now


def test_a_secret_is_taken_from_where_the_run_had_it(project: Project) -> None:
    fix(project)
    ran = project.run("resume", "--auto-approve", PASSWORD=SECRET)
    assert ran.code == 0
    kept = b"".join(file.read_bytes() for file in (project.root / "ledger").rglob("*") if file.is_file())
    assert SECRET.encode() not in kept


def test_a_secret_that_is_not_there_stops_everything_before_it_begins(project: Project) -> None:
    fix(project)
    elsewhere = Project(project.root)
    ran = resume(elsewhere)
    assert ran.code == 10, ran.text
    assert "PASSWORD is not set" in ran.text
    assert ran_log(project) == ["a", "b"]


def test_a_value_given_with_the_command_is_remembered_unless_it_is_secret(project: Project) -> None:
    assert project.apply("-var", "size=huge", "b", "c").code == 4
    fix(project)
    assert resume(project).code == 0
    assert project.outputs()["b"]["size"]["value"] == "huge"


def test_a_secret_given_with_the_command_has_to_be_given_again(project: Project) -> None:
    assert project.apply("-var", "password=given", "b", "c").code == 4
    fix(project)
    refused = resume(project)
    assert refused.code == 10
    assert "b.password: a secret that was given with the command and is kept nowhere" in refused.text
    assert "-var" in refused.text
    assert resume(project, "-var", "password=given").code == 0


def test_another_machine_goes_on_from_the_ledger_and_the_states_alone(project: Project, tmp_path: Path) -> None:
    fix(project)
    root = tmp_path / "elsewhere"
    shutil.copytree(project.root, root, ignore=shutil.ignore_patterns(".hybridwrap", ".terraform*", "*override*"))
    elsewhere = replace(project, root=root)
    ran = resume(elsewhere, "--json")
    assert ran.code == 0, ran.text
    assert planned(ran) == ["b", "c"]
    assert ran_log(elsewhere) == ["a", "b", "b", "c"]


def test_a_run_is_named_by_the_beginning_of_its_id(project: Project) -> None:
    run = newest_run(project)["run"]
    fix(project)
    assert project.apply("a").code == 0
    assert resume(project, run[:20]).code == 0
    ran = resume(project, run)
    assert ran.code == 0
    assert f"run {run} left nothing to do" in ran.text
    assert resume(project, "01NOSUCHRUN").code == 64
    assert project.run("adopt", "a").code == 0
    adopted = newest_run(project)["run"]
    refused = resume(project, adopted)
    assert refused.code == 64
    assert "is one of `adopt`: only an apply can be gone on with" in refused.text


def test_a_module_that_is_not_declared_any_more_is_left_out(project: Project) -> None:
    fix(project)
    edit(project, '  c: {source: c, inputs: {up: "{{ modules.b.id }}"}}\n', "")
    ran = resume(project, "--json")
    assert ran.code == 0, ran.text
    assert planned(ran) == ["b"]
    assert warnings(ran)["c"] == "left out: it is not in the manifest any more"


def test_what_was_destroyed_since_is_not_made_again(project: Project) -> None:
    fix(project)
    destroyed = project.run("destroy", "--auto-approve", "b")
    assert destroyed.code == 0, destroyed.text
    ran = resume(project, "--json")
    assert planned(ran) == []
    assert "b" not in ran_log(project)[2:]


def test_an_interrupted_run_is_gone_on_with(project: Project) -> None:
    edit(
        project,
        "test -e ../fixed",
        "touch ../began; for i in $(seq 3000); do [ -e ../fixed ] && exit 0; sleep 0.1; done; exit 1",
        "b/main.tf",
    )
    process = project.start("apply", "--auto-approve")
    while not (project.root / "began").exists():
        assert process.poll() is None
    interrupt(process)
    until_said(process, "SIGINT: ", stream=process.stderr)
    fix(project)
    assert wait(process).code == 130
    assert project.statuses()["c"] == "pending"
    ran = resume(project, "--json")
    assert ran.code == 0, ran.text
    assert "c" in planned(ran)
    assert set(project.statuses().values()) == {"ok"}


def test_an_unknown_outcome_stops_that_module_and_what_needs_it(project: Project) -> None:
    ledger = ledger_of(project)
    ledger.open()
    record = ledger.record("b")
    assert record.state
    held = ledger.begin(record, structs.replace(begin(run=record.run), state=record.state), operation="OP")
    end = End(Outcome.UNKNOWN, Status.UNKNOWN, record.state, record.outputs, record.objects, reason="killed")
    ledger.end(held, end, operation="OP", entry_id="E")
    (project.root / "states" / "b.tfstate").unlink()
    fix(project)

    ran = resume(project, "--json")

    assert ran.code == 32, ran.text
    assert project.statuses() == {"a": "ok", "b": "unknown", "c": "pending"}
    ends = {line["module"]: line for line in ran.lines if line["type"] == "module_ended"}
    assert (ends["b"]["result"], "reconcile b" in ends["b"]["hint"]) == ("unknown", True)
    assert ends["c"]["result"] == "pending"
    assert ran_log(project) == ["a", "b"]
