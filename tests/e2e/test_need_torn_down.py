"""What a module needs is torn down, or made anew, by somebody else between its plan and its begin: two real processes.

The `before` hook of the module runs in that very gap: what it does there once is the other process.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.project import Project

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
modules:
  network: {source: network}
  app: {source: app, inputs: {network: "{{ modules.network.id }}"}, hooks: {before: [[sh, gap.sh]]}}
"""
NETWORK = """
resource "terraform_data" "it" {
  provisioner "local-exec" {
    when    = destroy
    command = "touch ../going; while [ ! -e ../go ]; do sleep 0.1; done"
  }
}
output "id" { value = terraform_data.it.id }
"""
APP = 'variable "network" { type = string }\nresource "terraform_data" "it" { input = var.network }\n'
HYBRIDWRAP = f"{shlex.quote(sys.executable)} -m hybridwrap"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = Project(tmp_path)
    project.write(STACK, network=NETWORK, app=APP)
    assert project.apply("network").code == 0
    yield project
    for waited_for in ("going", "go"):  # whatever has failed, nobody waits on
        (tmp_path / waited_for).touch()


def written(file: Path) -> str:
    """What another process writes into a file, once it has."""
    until = time.monotonic() + 120
    while not file.exists():
        assert time.monotonic() < until, file
        time.sleep(0.02)
    return file.read_text()


def in_the_gap(project: Project, script: str) -> None:
    (project.root / "gap.sh").write_text(f"[ -e gap ] && exit 0\ntouch gap\n{script}\n")


def test_a_module_is_not_begun_while_what_it_needs_is_being_destroyed(project: Project) -> None:
    destroy = f"{HYBRIDWRAP} destroy network --auto-approve"
    in_the_gap(
        project,
        f"({destroy} >destroy.txt 2>&1 </dev/null; echo $? >code.part; mv code.part code) >/dev/null 2>&1 &\n"
        "while [ ! -e going ]; do sleep 0.1; done",
    )

    ran = project.apply("app")

    assert ran.code == 20, ran.text
    begun = project.ledger().record("network").holder
    assert begun is not None
    assert f"nothing ran: network is being destroyed by run {begun.run} of {begun.writer} since " in ran.text
    assert not (project.root / ".hybridwrap/state/default/app.tfstate").exists()
    early = project.apply("app")
    assert (early.code, "network is being destroyed by run" in early.text) == (20, True), "and without a plan"
    (project.root / "go").touch()
    assert written(project.root / "code") == "0\n", (project.root / "destroy.txt").read_text()
    assert project.statuses() == {"network": "destroyed", "app": "pending"}
    assert project.ledger().verify("app") == []
    assert project.apply("app").code == 10


def test_a_module_is_planned_again_when_what_it_needs_was_made_anew(project: Project) -> None:
    (project.root / "go").touch()
    before = project.outputs()["network"]["id"]["value"]
    in_the_gap(project, f"{HYBRIDWRAP} apply network --auto-approve -replace=terraform_data.it </dev/null")

    ran = project.apply("app")

    assert ran.code == 0, ran.text
    assert "app | warning: network was changed after the plan was made; planning again" in ran.text
    (given,) = project.ledger().record("app").inputs.values()
    assert given.value == project.outputs()["network"]["id"]["value"] != before
    assert project.statuses() == {"network": "ok", "app": "ok"}
