"""The five rules of the contract, seen from outside: the real command and engine, a cloud that fails on demand."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from shlex import quote

import pytest

from hybridwrap.domain.entry import Begin, Observe
from hybridwrap.domain.status import Status
from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.faults import Operation
from tests.support.project import FAKECLOUD, Project

pytestmark = pytest.mark.e2e

CHAIN = """
version: 1
stack: shop
engine: {program: ENGINE}
modules:
  network: {source: network}
  vm: {source: vm, inputs: {network_id: "{{ modules.network.id }}"}}
  health: {source: health, inputs: {address: "{{ modules.vm.ip }}"}}
  docs: {source: docs}
"""
NETWORK = (
    FAKECLOUD
    + """
resource "fakecloud_network" "net" { name = "net" }
output "id" { value = fakecloud_network.net.id }
"""
)
VM = (
    FAKECLOUD
    + """
variable "network_id" { type = string }
variable "size" {
  type    = string
  default = "small"
}
resource "fakecloud_server" "web" {
  name = "web"
  size = var.size # a change replaces the server
  tags = { network = var.network_id }
}
output "ip" { value = fakecloud_server.web.ip }
output "network" { value = var.network_id }
"""
)
HEALTH = 'variable "address" { type = string }\nresource "terraform_data" "check" { input = var.address }\n'
DOCS = 'resource "terraform_data" "docs" {}\n'


@pytest.fixture
def project(tmp_path: Path, fakecloud_env: Mapping[str, str], engine_program: str) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, fakecloud_env)
    project.write(CHAIN.replace("ENGINE", engine_program), network=NETWORK, vm=VM, health=HEALTH, docs=DOCS)
    return project


def test_state_reads_running_while_the_engine_runs_and_starts_from_an_old_destroyed_record(
    project: Project, cloud: Cloud
) -> None:
    ledger = project.ledger()
    ledger.open()
    ledger.observe(
        ledger.record("network"),
        Observe(run="R0", reason="torn down long ago", status=Status.DESTROYED, evidence=("test",)),
    )
    assert project.statuses()["network"] == "destroyed"
    environment = " ".join(f"{name}={quote(value)}" for name, value in project.environ.items())
    look = f"cd {quote(str(project.root))} && {environment} {quote(sys.executable)} -m hybridwrap status --json"
    cloud.observe(["sh", "-c", look], operation=Operation.CREATE, pattern="net")

    assert project.apply("network").code == 0

    (call,) = cloud.calls(Operation.CREATE, name="net")
    assert call.observed_exit == 0, call.observed
    assert '"status":"running"' in call.observed
    assert project.statuses()["network"] == "ok"


def test_a_failure_reads_error_keeps_outputs_names_the_command_and_leaves_the_rest_pending(
    project: Project, cloud: Cloud
) -> None:
    assert project.apply().code == 0
    cloud.inject("web", "delete-fails")
    project.write((project.root / "hybridwrap.yaml").read_text(), vm=VM.replace('"small"', '"large"'))

    ran = project.apply()

    assert ran.code == 4
    status = project.status()
    assert {name: module["status"] for name, module in status.items()} == {
        "network": "ok",
        "vm": "error",
        "health": "pending",
        "docs": "ok",
    }
    assert status["health"]["was"] == "ok"
    outputs = project.outputs()
    assert outputs["network"]["id"]["provenance"] == "known"
    assert outputs["vm"]["network"] == {
        "value": cloud.only("net").id,
        "type": "string",
        "sensitive": False,
        "provenance": "known",
    }
    assert outputs["vm"]["ip"]["provenance"] == "stale"
    assert outputs["vm"]["ip"]["value"] == cloud.only("web").attributes["ip"]
    assert status["health"]["reason"] == "waits for vm.ip"
    record = project.ledger().record("vm")
    assert "apply" in record.failed_command
    assert record.errors
    assert [(o.address, o.id) for o in record.objects] == [("fakecloud_server.web", cloud.only("web").id)]
    assert record.inputs["network_id"].value == cloud.only("net").id
    assert record.settled is Status.ERROR, "error is what destroy takes up"

    cloud.lift()
    assert project.apply().code == 0
    assert set(project.statuses().values()) == {"ok"}


def test_the_record_of_an_intent_holds_the_inputs_and_the_outputs_so_far(project: Project, cloud: Cloud) -> None:
    assert project.apply("network", "vm").code == 0
    ip = cloud.only("web").attributes["ip"]
    project.write((project.root / "hybridwrap.yaml").read_text(), vm=VM.replace('"small"', '"large"'))
    assert project.apply("vm").code == 0

    first, second = (entry.body for entry in project.ledger().history("vm") if isinstance(entry.body, Begin))
    assert {name: kept.value for name, kept in first.inputs.items()} == {"network_id": cloud.only("net").id}
    assert (first.previous_status, first.previous_outputs) == (Status.NONE, {})
    assert second.inputs == first.inputs
    assert second.previous_status is Status.OK
    assert second.previous_outputs["ip"].value == ip != cloud.only("web").attributes["ip"]


def test_what_did_not_run_has_no_record_at_all(project: Project, cloud: Cloud) -> None:
    cloud.inject("net", "fail-before")

    assert project.apply().code == 4

    assert project.statuses() == {"network": "error", "vm": "pending", "health": "pending", "docs": "ok"}
    assert project.ledger().history("vm") == ()
    assert project.ledger().history("health") == ()
    assert project.status()["vm"]["reason"] == "waits for network.id"
    ends = project.call("show", "--json").json["end"]["modules"]
    assert {name: end["result"] for name, end in ends.items()} == project.statuses()


def test_independent_modules_go_on_after_a_failure_and_fail_fast_stops_them(project: Project, cloud: Cloud) -> None:
    manifest = (project.root / "hybridwrap.yaml").read_text()
    project.write(f"{manifest}  zone: {{source: docs}}\n")  # its turn is after that of network
    cloud.inject("net", "fail-before")
    apply, left = ("--parallelism", "1", "network", "vm", "zone"), {"health": "none", "docs": "none"}
    assert project.apply(*apply, "--fail-fast").code == 4
    assert project.statuses() == {**left, "network": "error", "vm": "pending", "zone": "pending"}
    assert project.status()["zone"]["reason"] == "--fail-fast after network"
    assert project.apply(*apply).code == 4
    assert project.statuses() == {**left, "network": "error", "vm": "pending", "zone": "ok"}


def test_a_failed_plan_leaves_the_previous_status(project: Project, cloud: Cloud) -> None:
    assert project.apply().code == 0
    before = project.ledger().record("vm")
    cloud.inject("web", "read-fails")

    ran = project.apply()

    assert ran.code == 4
    assert "error      in plan: " in ran.text
    assert project.ledger().record("vm") == before
    assert project.call("show", "--json").json["end"]["modules"]["vm"]["result"] == "error"


def test_an_unchanged_module_writes_nothing(project: Project, cloud: Cloud) -> None:
    assert project.apply().code == 0
    before = {name: len(project.ledger().history(name)) for name in ("network", "vm", "health", "docs")}

    ran = project.apply()

    assert ran.code == 0
    assert "4 unchanged" in ran.text
    assert {name: len(project.ledger().history(name)) for name in before} == before


def test_without_a_ledger_that_can_be_written_the_engine_changes_nothing(project: Project, cloud: Cloud) -> None:
    (project.root / ".hybridwrap").mkdir()
    (project.root / ".hybridwrap" / "ledger").write_text("not a folder")

    ran = project.apply()

    assert ran.code == 30, ran.text
    assert cloud.calls() == []


@pytest.fixture
def small_disk(project: Project) -> Iterator[Path]:
    """The ledger's folder on a disk of 256 KiB."""
    folder = project.root / ".hybridwrap" / "ledger"
    folder.mkdir(parents=True)
    mount = shutil.which("mount")
    if (
        mount is None
        or subprocess.run([mount, "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], check=False).returncode
    ):
        pytest.skip("a small disk can't be mounted here: that needs root on Linux")
    try:
        yield folder
    finally:
        subprocess.run([shutil.which("umount") or "umount", folder], check=True)


def test_a_full_disk_under_the_ledger_keeps_the_engine_from_starting(
    project: Project, cloud: Cloud, small_disk: Path
) -> None:
    assert project.apply("network").code == 0
    with (small_disk / "filler").open("wb", buffering=0) as filler, suppress(OSError):
        while True:
            filler.write(bytes(512))

    ran = project.apply("vm")

    assert ran.code == 30, ran.text
    assert "No space left" in ran.text
    assert cloud.calls(Operation.CREATE, name="web") == []
    (small_disk / "filler").unlink()
    assert project.apply("vm").code == 0
