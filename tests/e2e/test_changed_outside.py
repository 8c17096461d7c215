"""Raw engine commands between two operations leave a module usable, and the ledger says what they were."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hybridwrap.domain.entry import Observe
from hybridwrap.domain.outputs import Provenance
from tests.support.engines import RealEngine, engines
from tests.support.prepared import Prepared
from tests.support.project import Project

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
engine: {program: ENGINE}
modules:
  base: {source: base, inputs: {size: small}}
  top: {source: top, inputs: {size: "{{ modules.base.size }}"}}
"""
BASE = """
variable "size" { type = string }
resource "terraform_data" "one" { input = var.size }
output "size" { value = terraform_data.one.output }
"""
TOP = 'variable "size" { type = string }\nresource "terraform_data" "it" { input = var.size }\n'


@pytest.fixture
def engine(engine_program: str) -> RealEngine:
    found = engines()[engine_program]
    assert found
    return found


@pytest.fixture
def project(tmp_path: Path, engine: RealEngine, prepared: Prepared) -> Project:
    manifest = STACK.replace("ENGINE", engine.name)
    return prepared.applied(Project(tmp_path), f"changed-outside-{engine.name}", manifest, base=BASE, top=TOP)


def raw(project: Project, engine: RealEngine, *argv: str) -> None:
    """Run the engine in `base` as somebody would who has never heard of hybridwrap, but for its data folder."""
    folder = project.root / "base"
    env = {**project.env, **project.call("commands", "base", "--json").json["env"]}
    ran = subprocess.run([*engine.argv, *argv], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def serial(project: Project) -> int:
    state = json.loads((project.root / ".hybridwrap" / "state" / "default" / "base.tfstate").read_text())
    return int(state["serial"])


def warnings(ran_lines: list[Any]) -> dict[str, str]:
    return {line["module"]: line["text"] for line in ran_lines if line["type"] == "warning"}


def test_a_raw_apply_is_said_and_its_outputs_are_taken_up(project: Project, engine: RealEngine) -> None:
    before = serial(project)
    raw(project, engine, "apply", "-auto-approve", "-input=false", "-var", "size=large")
    now = serial(project)
    manifest = project.root / "hybridwrap.yaml"
    manifest.write_text(manifest.read_text().replace("size: small", "size: large"))

    ran = project.apply("--json")

    assert ran.code == 0, ran.text
    assert warnings(ran.lines) == {"base": f"changed outside (serial {before} -> {now})"}
    record = project.ledger().record("base")
    assert (record.outputs["size"].value, record.outputs["size"].provenance) == ("large", Provenance.KNOWN)
    assert record.state
    assert record.state.serial == now
    last = project.ledger().history("base")[-1].body
    assert isinstance(last, Observe)
    assert last.reason == f"changed outside (serial {before} -> {now})"
    assert project.ledger().record("top").inputs["size"].value == "large", "what uses it got the new value"
    assert not warnings(project.apply("--json").lines), "said once"


def test_a_raw_apply_that_the_manifest_does_not_want_is_undone(project: Project, engine: RealEngine) -> None:
    raw(project, engine, "apply", "-auto-approve", "-input=false", "-var", "size=large")
    ran = project.apply("--json", "base")
    assert ran.code == 0, ran.text
    assert "changed outside" in warnings(ran.lines)["base"]
    assert project.outputs()["base"]["size"]["value"] == "small"


def add_a_second_object(project: Project, _: RealEngine) -> None:
    (project.root / "base" / "main.tf").write_text(BASE + 'resource "terraform_data" "two" {}\n')


def move_in_source(project: Project, _: RealEngine) -> None:
    (project.root / "base" / "main.tf").write_text(BASE.replace('"one"', '"first"').replace(".one.", ".first."))


@pytest.mark.parametrize(
    ("argv", "then", "addresses"),
    [
        (
            ("state", "mv", "terraform_data.one", "terraform_data.first"),
            move_in_source,
            {"terraform_data.first"},
        ),
        (
            ("import", "-input=false", "-var", "size=small", "terraform_data.two", "4711"),
            lambda *_: None,
            {"terraform_data.one", "terraform_data.two"},
        ),
    ],
    ids=["state mv", "import"],
)
def test_raw_commands_on_the_state_leave_the_module_usable(
    project: Project,
    engine: RealEngine,
    argv: tuple[str, ...],
    then: Callable[[Project, RealEngine], None],
    addresses: set[str],
) -> None:
    if "import" in argv:
        add_a_second_object(project, engine)
    before = serial(project)
    raw(project, engine, *argv)
    then(project, engine)

    ran = project.apply("--json", "base")

    assert ran.code == 0, ran.text
    assert warnings(ran.lines)["base"].startswith(f"changed outside (serial {before} -> ")
    record = project.ledger().record("base")
    assert {thing.address for thing in record.objects} == addresses
    assert not any(thing.open for thing in record.objects)
    assert project.statuses() == {"base": "ok", "top": "ok"}
    assert project.call("ledger", "verify").code == 0


@pytest.mark.parametrize(
    "argv",
    [
        ("apply", "-auto-approve", "-input=false", "-var", "size=small", "-replace", "terraform_data.one"),
        ("destroy", "-auto-approve", "-input=false", "-var", "size=small"),
        ("state", "rm", "terraform_data.one"),
    ],
    ids=["replaced", "destroyed", "taken out"],
)
def test_what_somebody_else_took_out_is_no_doubt_of_ours_and_no_proof_that_it_is_gone(
    project: Project, engine: RealEngine, argv: tuple[str, ...]
) -> None:
    (old,) = project.ledger().record("base").objects
    raw(project, engine, *argv)
    assert project.apply("base").code == 0

    found = {thing.id: thing for thing in project.ledger().record("base").objects}
    assert (len(found), found[old.id].outside) == (2, True)
    assert not any(thing.open for thing in found.values())
    assert project.apply("base", "-replace", "terraform_data.one").code == 0
    assert project.run("reconcile").text == "every module is as the ledger says\n"

    torn = project.run("destroy", "--auto-approve")
    assert (torn.code, f"no delete was seen of {old.address} {old.id}" in torn.text) == (4, True), torn.text
    assert project.run("verify", "base", "--gone", "--reason", "looked").code == 0
    assert project.statuses()["base"] == "destroyed"


def test_what_our_own_state_rm_took_out_is_no_doubt(project: Project) -> None:
    (old,) = project.ledger().record("base").objects
    assert project.run("tf", "base", "--", "state", "rm", "terraform_data.one").code == 0
    (left,) = project.ledger().record("base").objects
    assert (left.id, left.open, left.outside) == (old.id, False, True)
    assert project.apply().code == 0


def test_what_only_reads_ends_with_the_engines_code_and_what_may_change_as_history_says(project: Project) -> None:
    assert project.run("tf", "base", "--", "state", "show", "terraform_data.none").code == 1

    assert project.run("tf", "base", "--", "typo").code == 4
    newest = project.call("history", "--json").json[0]
    assert (newest["command"], newest["end"]["exit_code"]) == ("tf typo", 4)
    assert project.statuses()["base"] == "ok"


def test_a_state_that_went_backwards_is_no_change_from_outside(project: Project, engine: RealEngine) -> None:
    file = project.root / ".hybridwrap" / "state" / "default" / "base.tfstate"
    old = file.read_bytes()
    manifest = project.root / "hybridwrap.yaml"
    manifest.write_text(manifest.read_text().replace("size: small", "size: large"))
    assert project.apply("base").code == 0
    file.write_bytes(old)
    ran = project.apply("base")
    assert ran.code == 32
    assert "stopped before anything" in ran.text
