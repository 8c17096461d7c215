"""A secret that a module passes on without calling it one stays out of the ledger and off the screen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hybridwrap.domain.entry import RecordedInput
from tests.support.project import Project

SECRET = "s3cr3t-of-m-7719"
MANIFEST = """
version: 1
stack: shop
modules:
  m: {source: m, inputs: {pw: {from_env: PW}}}
  d: {source: d, inputs: {pw: "{{ modules.m.pw }}"}}
  e: {source: e, inputs: {dsn: "{{ modules.d.dsn }}"}}
"""
M = """
variable "pw" { sensitive = true }
output "pw" {
  value     = var.pw
  sensitive = true
}
"""
D = """
variable "pw" {}
resource "terraform_data" "db" { input = "login ${var.pw}" }
output "dsn" { value = "db://u:${var.pw}@host" }
output "nested" { value = { list = [{ deep = var.pw }] } }
output "open" { value = "no secret" }
"""
E = 'variable "dsn" {}\noutput "length" { value = length(var.dsn) }\noutput "again" { value = var.dsn }\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path, {"PW": SECRET})
    made.write(MANIFEST, m=M, d=D, e=E)
    return made


def written(project: Project, secret: str = SECRET) -> list[Path]:
    """The files of the ledger and of operations that hold the secret; the engine's own state does."""
    home = project.root / ".hybridwrap"
    files = (path for place in ("ledger", "operations") for path in (home / place).rglob("*") if path.is_file())
    return [path for path in files if secret.encode() in path.read_bytes()]


@pytest.mark.e2e
def test_an_output_with_a_known_secret_in_it_is_withheld(project: Project) -> None:
    applied = project.apply()
    assert applied.code == 0, applied.text
    assert written(project) == []
    shown = [project.run(*words).text for words in (["status", "--json"], ["output", "--json"], ["list", "--json"])]
    assert not any(SECRET in text for text in (applied.text, *shown))
    outputs = project.outputs()
    hidden = (outputs["d"]["dsn"], outputs["d"]["nested"], outputs["e"]["again"])
    assert all(output["sensitive"] for output in hidden)
    assert outputs["d"]["open"]["value"] == "no secret"
    assert outputs["e"]["length"]["value"] == len(f"db://u:{SECRET}@host"), "a dependant gets the value all the same"


@pytest.mark.e2e
def test_what_is_withheld_stays_so_by_whatever_command(project: Project) -> None:
    project.apply()
    assert project.run("tf", "d", "--", "taint", "terraform_data.db").code == 0
    assert written(project) == []
    assert project.apply("e").code == 0, "a later run reads the value from the state"
    assert project.apply().code == 0
    assert written(project) == []


@pytest.mark.e2e
def test_adopting_withholds_it_too(project: Project) -> None:
    project.apply()
    for name in ("log", "head"):
        for path in (project.root / ".hybridwrap" / "ledger").rglob(f"{name}/d*"):
            for file in [path] if path.is_file() else path.iterdir():
                file.unlink()
    assert project.run("adopt", "d").code == 0
    assert written(project) == []
    assert project.outputs()["d"]["dsn"]["sensitive"]


@pytest.mark.e2e
def test_an_input_with_a_known_secret_in_it_is_recorded_without_its_value(project: Project) -> None:
    manifest = project.root / "hybridwrap.yaml"
    manifest.write_text(f"{manifest.read_text()}  f: {{source: f, depends_on: [m]}}\n")
    project.write(manifest.read_text(), f=E)
    (project.root / "f" / "terraform.tfvars").write_text(f'dsn = "db://{SECRET}"\n')
    assert project.apply("m", "f").code == 0
    dsn = project.ledger().record("f").inputs["dsn"]
    assert dsn == RecordedInput(sensitive=True, reference="file:f/terraform.tfvars")
    assert written(project) == []


@pytest.mark.e2e
def test_a_plan_that_is_shown_hides_it(project: Project) -> None:
    assert project.apply("m").code == 0
    shown = project.run("plan")
    assert "terraform_data.db" in shown.text
    assert SECRET not in shown.text
    project.apply()
    newer = SECRET.replace("7719", "8820")
    assert project.apply("m", PW=newer).code == 0
    shown = project.run("plan", "d", PW=newer)
    assert "terraform_data.db" in shown.text
    assert SECRET not in shown.text
    assert newer not in shown.text


KEPT = """
version: 1
stack: shop
modules:
  m: {source: m, inputs: {pw: {from_env: PW}}}
  f: {source: f, inputs: {up: "{{ modules.m.up }}", url: "https://SECRET@host"}}
"""
RANDOM = """
variable "pw" { sensitive = true }
resource "terraform_data" "it" { input = "made-${var.pw}" }
output "up" { value = "up" }
output "pw" {
  value     = var.pw
  sensitive = true
}
output "made" {
  value     = md5(terraform_data.it.id)
  sensitive = true
}
"""
F = """
variable "up" {}
variable "url" {}
variable "dsn" {}
resource "terraform_data" "it" {
  triggers_replace = [var.url, var.dsn]
  provisioner "local-exec" { command = "test -e ../fixed" }
}
"""


@pytest.mark.e2e
def test_what_a_run_keeps_has_no_secret_and_what_it_left_out_is_never_another_value_in_silence(tmp_path: Path) -> None:
    project = Project(tmp_path, {"PW": SECRET})
    project.write(KEPT.replace("SECRET", SECRET), m=RANDOM, f=F)
    values = tmp_path / "f" / "terraform.tfvars"
    values.write_text('dsn = "none yet"\n')
    assert project.apply("m").code == 0
    state = json.loads((tmp_path / ".hybridwrap/state/default/m.tfstate").read_bytes())
    made = state["outputs"]["made"]["value"]
    values.write_text(f'dsn = "db://{SECRET}/{made}"\n')

    assert project.apply("f").code == 4
    assert [file for secret in (SECRET, made) for file in written(project, secret)] == []

    (tmp_path / "fixed").touch()
    values.write_text(f'dsn = "db://{SECRET}/{made}/other"\n')
    refused = project.run("resume", "--auto-approve")
    assert refused.code == 10, refused.text
    said = "f.dsn: with a secret in it, it was left in f/terraform.tfvars, which has another value now"
    assert said in refused.text
    assert "hybridwrap resume --inputs current" in refused.text

    values.write_text(f'dsn = "db://{SECRET}/{made}"\n')
    edit = tmp_path / "hybridwrap.yaml"
    edit.write_text(edit.read_text().replace("url:", f'dsn: "db://{SECRET}/new", url:'))
    went_on = project.run("resume", "--auto-approve", "--inputs", "current")
    assert went_on.code == 0, went_on.text
    assert ": dsn (secret, file:f/terraform.tfvars) -> (secret, manifest)\n" in went_on.text
    assert not any(secret in ran.text for secret in (SECRET, made) for ran in (refused, went_on))


@pytest.mark.e2e
def test_a_run_whose_withheld_values_still_stand_is_gone_on_with(project: Project) -> None:
    project.write(KEPT.replace("SECRET", SECRET), m=RANDOM, f=F)
    (project.root / "f" / "terraform.tfvars").write_text('dsn = "open"\n')
    assert project.apply().code == 4
    assert written(project) == []
    (project.root / "fixed").touch()
    ran = project.run("resume", "--auto-approve")
    assert ran.code == 0, ran.text
    assert "inputs of run" not in ran.text
