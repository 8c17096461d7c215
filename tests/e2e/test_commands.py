"""`commands`: what it prints is a script that does by hand what hybridwrap does; secrets are named, not shown."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import Project

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
engine: {program: ENGINE}
state: {local: {path: "states/{module}.tfstate"}}
ledger: {folder: ledger}
modules:
  base: {source: base}
  top:
    source: top
    env: {GREETING: "it's $HOME"}
    inputs:
      id: "{{ modules.base.id }}"
      odd: "a 'b' \\"c\\" $(touch hacked) `touch hacked` ${x}"
      lines: ["one\\ntwo", "\\\\"]
      password: {from_env: PASSWORD}
      key: {from_file: key.pem}
      upstream: "{{ modules.base.secret }}"
"""
BASE = """
resource "terraform_data" "it" { input = "hunter4" }
output "id" { value = terraform_data.it.id }
output "secret" {
  value     = terraform_data.it.output
  sensitive = true
}
"""
TOP = """
variable "id" { type = string }
variable "odd" { type = string }
variable "lines" { type = list(string) }
variable "password" { sensitive = true }
variable "key" { sensitive = true }
variable "upstream" { sensitive = true }
resource "terraform_data" "it" {
  input = [var.id, var.odd, join("|", var.lines), var.password, var.key, var.upstream]
}
output "all" {
  value     = terraform_data.it.output
  sensitive = true
}
"""
SECRETS = {"PASSWORD": "hunter2", "TF_VAR_upstream": "hunter4"}


@pytest.fixture
def project(tmp_path: Path, engine_program: str) -> Project:
    project = Project(tmp_path)
    project.write(STACK.replace("ENGINE", engine_program), base=BASE, top=TOP)
    (tmp_path / "key.pem").write_text("hunter3\n")
    assert project.apply("base").code == 0
    return project


def by_hand(project: Project, *changes: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Paste what is printed for `top`, with the lines that change something taken out of their comments."""
    script = project.call("commands", "top").out
    for change in changes:
        (line,) = [line for line in script.splitlines() if line.startswith("# ") and f" {change} -" in line]
        script = script.replace(line, f"{line.removeprefix('# ')} {'-auto-approve' * (change == 'destroy')}")
    return subprocess.run(
        ["/bin/sh", "-eu", "-c", script],
        cwd="/",
        env={**project.env, **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def state(project: Project) -> Any:
    return json.loads((project.root / "states" / "top.tfstate").read_text())


def test_what_is_printed_does_what_an_apply_does_and_the_ledger_takes_it_up(project: Project) -> None:
    ran = by_hand(project, "apply", **SECRETS)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    value = state(project)["outputs"]["all"]["value"]
    assert value[1:] == [
        "a 'b' \"c\" $(touch hacked) `touch hacked` ${x}",
        "one\ntwo|\\",
        "hunter2",
        "hunter3\n",
        "hunter4",
    ]
    assert not list(project.root.rglob("hacked"))
    after = project.apply("top", PASSWORD="hunter2")
    assert after.code == 0, after.text
    assert "1 unchanged" in after.text, "hybridwrap sees the same inputs"
    assert project.statuses()["top"] == "ok"

    ran = by_hand(project, "destroy", **SECRETS)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert state(project)["resources"] == []


def test_a_mere_paste_changes_nothing(project: Project) -> None:
    assert by_hand(project, **SECRETS).returncode == 0
    assert not (project.root / "states" / "top.tfstate").exists()


@pytest.mark.parametrize("missing", ["PASSWORD", "TF_VAR_upstream"])
def test_a_secret_that_is_not_set_stops_the_script_at_its_name(project: Project, missing: str) -> None:
    ran = by_hand(project, "apply", **{name: value for name, value in SECRETS.items() if name != missing})
    assert ran.returncode != 0
    assert missing in ran.stderr
    assert not (project.root / "states" / "top.tfstate").exists()


def test_no_secret_is_shown_and_none_has_to_be_there(project: Project) -> None:
    (project.root / "key.pem").unlink()
    for argv in (("commands", "top"), ("commands", "top", "--json"), ("render", "top"), ("render", "top", "--json")):
        ran = project.run(*argv)
        assert ran.code == 0, ran.text
        assert not any(secret in ran.text for secret in ("hunter2", "hunter3", "hunter4")), argv
    found = project.call("commands", "top", "--json").json
    assert found["secrets"] == {
        "TF_VAR_password": "env:PASSWORD",
        "TF_VAR_key": "file:key.pem",
        "TF_VAR_upstream": "{{ modules.base.secret }}",
    }
    assert found["env"]["GREETING"] == "it's $HOME"
    assert set(found["variables"]) == {"id", "odd", "lines"}
    assert list(found["commands"]) == ["apply", "destroy", "init", "output", "plan"]


def test_it_works_while_the_ledger_can_not_be_reached(project: Project) -> None:
    known = project.call("commands", "top", "--json").json["variables"]["id"]
    manifest = project.root / "hybridwrap.yaml"
    nowhere = "{s3: {bucket: acme, region: us-east-1, endpoint: 'http://127.0.0.1:9', use_path_style: true}}"
    manifest.write_text(manifest.read_text().replace("{folder: ledger}", nowhere))
    ran = project.call("commands", "top", "--json", AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="x")
    assert ran.code == 0, ran.text
    assert ran.json["variables"]["id"] == known
    assert "outputs of other modules are read from their states" in ran.err


def test_what_is_not_there_yet_is_named(project: Project) -> None:
    (project.root / "base" / "main.tf").write_text(BASE + 'output "late" { value = 1 }\n')
    manifest = project.root / "hybridwrap.yaml"
    manifest.write_text(manifest.read_text().replace("modules.base.id", "modules.base.late"))
    ran = project.call("commands", "top")
    assert ran.code == 0
    assert "# missing: base.late is not there yet" in ran.out


def test_a_module_that_is_none_is_wrong_usage(project: Project) -> None:
    assert project.call("commands", "tip").code == 64
