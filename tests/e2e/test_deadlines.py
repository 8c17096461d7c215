"""A run and a module end before their time is over, gracefully, and the ledger says why."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest

from hybridwrap.domain.status import Outcome
from tests.support.engines import engines
from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.faults import Operation
from tests.support.hour_later import with_an_hour_to_pass
from tests.support.project import FAKECLOUD, Project, Ran, wait

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
engine: {program: ENGINE}
modules:
  network: {source: network, TIMEOUT}
  vm: {source: vm, inputs: {network_id: "{{ modules.network.id }}"}}
  docs: {source: docs}
"""
NETWORK = (
    FAKECLOUD
    + """
resource "fakecloud_network" "net" { name = "net" }
resource "fakecloud_network" "after" {
  name       = "after"
  depends_on = [fakecloud_network.net]
}
output "id" { value = fakecloud_network.net.id }
"""
)
VM = 'variable "network_id" { type = string }\nresource "terraform_data" "vm" { input = var.network_id }\n'
DOCS = 'resource "terraform_data" "docs" {}\n'
LIMIT = "1h"


@pytest.fixture
def project(tmp_path: Path, fakecloud_env: Mapping[str, str]) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    return Project(root, fakecloud_env)


def write(project: Project, engine: str, settings: str = "") -> None:
    manifest = STACK.replace("ENGINE", engine).replace(", TIMEOUT", f", {settings}" if settings else "")
    project.write(manifest, network=NETWORK, vm=VM, docs=DOCS)


def apply_until_interrupted(project: Project, cloud: Cloud, *argv: str) -> Ran:
    """Apply; an hour passes while the first object is made, of which the cloud answers after the interrupt."""
    cloud.inject("net", "hang")
    over = project.root / "over"
    process = with_an_hour_to_pass(project, over).start("apply", "--auto-approve", *argv)
    cloud.wait_for_calls(Operation.CREATE, name="net")
    over.touch()
    cloud.wait_for_calls(Operation.STOP)
    cloud.lift()
    return wait(process)


def test_the_time_of_a_run_ends_its_engine_gracefully_and_starts_nothing_more(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    write(project, engine_program)

    ran = apply_until_interrupted(project, cloud, "--timeout", LIMIT, "network", "vm")

    assert ran.code == 130, ran.text
    assert f"the time of the run was up after {LIMIT}" in ran.text
    record = project.ledger().record("network")
    assert record.outcome is Outcome.INTERRUPTED
    assert record.reason.endswith(f"; the time of the run was up after {LIMIT}")
    assert [thing.name for thing in cloud.objects()] == ["net"], "what was begun was waited for, nothing else began"
    assert project.statuses() == {"network": "error", "vm": "pending", "docs": "none"}
    assert project.ledger().record("network").objects[0].id == cloud.only("net").id

    assert project.apply("network", "vm").code == 0
    assert len(cloud.calls(Operation.CREATE, name="net")) == 1, "nothing is made twice"


def test_the_timeout_of_a_module_stops_that_module_and_what_needs_it(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    write(project, engine_program, f"timeout: {LIMIT}")

    ran = apply_until_interrupted(project, cloud)

    assert ran.code == 4, ran.text
    assert project.statuses() == {"network": "error", "vm": "pending", "docs": "ok"}
    record = project.ledger().record("network")
    assert record.outcome is Outcome.INTERRUPTED
    assert record.reason.endswith(f"; its timeout of {LIMIT} was up")


def test_a_plan_that_takes_too_long_changes_nothing_and_is_no_operation(project: Project, engine_program: str) -> None:
    write(project, engine_program, "timeout: 0")
    ran = project.apply("network")
    assert ran.code == 4, ran.text
    assert "its time was up while nothing was changed" in ran.text
    assert project.ledger().history("network") == ()


def test_a_plan_that_ends_well_in_spite_of_the_interrupt_is_too_late_all_the_same(
    project: Project, engine_program: str
) -> None:
    program = engines()[engine_program]
    assert program
    write(project, "./deaf", "timeout: 0")
    (project.root / "deaf").write_text(f'#!/bin/sh\ntrap : INT\n{shlex.join(program.argv)} "$@"\n')
    (project.root / "deaf").chmod(0o755)

    ran = project.apply("network")

    assert ran.code == 4, ran.text
    assert "its time was up while nothing was changed" in ran.text
    assert project.ledger().history("network") == ()


def test_a_limit_that_is_not_reached_changes_nothing(project: Project, engine_program: str) -> None:
    write(project, engine_program, "timeout: 10m")
    assert project.apply("--timeout", "1h").code == 0


def test_a_limit_that_is_none_is_wrong_usage(project: Project, engine_program: str) -> None:
    write(project, engine_program)
    ran = project.apply("--timeout", "soon")
    assert ran.code == 64
    assert "'soon' is no span of time" in ran.text
