"""The transcripts on the page for operators about what a run left behind."""

from __future__ import annotations

import subprocess

import pytest

from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.faults import Operation
from tests.support.pages import Check, Screen
from tests.support.project import Project, seconds_to_plan

pytestmark = pytest.mark.e2e


def test_error(project: Project, cloud: Cloud, screen: Screen, check: Check) -> None:
    cloud.inject("gate", "fail-before")
    screen.type("hybridwrap apply --auto-approve network vm")
    screen.type("hybridwrap why vm")
    check("error", screen)


def test_pending(project: Project, cloud: Cloud, screen: Screen, check: Check) -> None:
    cloud.inject("gate", "fail-before")
    assert project.apply("network", "vm").code == 4
    cloud.lift()
    screen.type("hybridwrap resume --auto-approve")
    screen.type("hybridwrap resume --auto-approve")
    check("pending", screen)


def test_inputs_differ(project: Project, cloud: Cloud, screen: Screen, check: Check) -> None:
    source = project.root / "vm" / "main.tf"
    source.write_text(source.read_text() + 'variable "size" { default = "small" }\n')
    cloud.inject("gate", "fail-before")
    assert project.apply("network", "vm").code == 4
    cloud.lift()
    manifest = project.root / "hybridwrap.yaml"
    manifest.write_text(manifest.read_text().replace("network_id:", "size: large, network_id:"))
    screen.type("hybridwrap resume --auto-approve")
    check("inputs-differ", screen)


def test_time_up(project: Project, cloud: Cloud, screen: Screen, check: Check) -> None:
    cloud.inject("gate", "hang")
    enough = seconds_to_plan(project, "network", "vm")
    process = screen.start(f"hybridwrap apply --auto-approve --timeout {enough}s network vm")
    cloud.wait_for_calls(Operation.STOP)
    cloud.lift()
    screen.until_it_ends(process)
    check("time-up", screen)


def test_changed_outside(project: Project, screen: Screen, check: Check) -> None:
    assert project.apply("network", "vm").code == 0
    found = project.call("commands", "vm", "--json").json
    engine = found["commands"]["apply"][: found["commands"]["apply"].index("apply")]
    subprocess.run(
        [*engine, "apply", "-auto-approve", "-replace=terraform_data.vm", "-var-file=/dev/stdin"],
        cwd=found["folder"],
        env={**project.env, **found["env"], "TF_VAR_network_id": found["variables"]["network_id"]},
        input=b"",
        capture_output=True,
        check=True,
    )
    screen.type("hybridwrap apply --auto-approve vm")
    check("changed-outside", screen)


def test_another_state(project: Project, screen: Screen, check: Check) -> None:
    assert project.apply("network").code == 0
    (project.root / ".hybridwrap/state/default/network.tfstate").unlink()
    screen.type("hybridwrap apply --auto-approve network")
    screen.type("hybridwrap reconcile network --accept-state --reason 'deleted by mistake, no version is left'")
    screen.type("hybridwrap reconcile network --import")
    screen.type("hybridwrap apply --auto-approve network")
    check("another-state", screen)


def test_renamed(project: Project, screen: Screen, check: Check) -> None:
    assert project.apply("network", "vm").code == 0
    manifest = project.root / "hybridwrap.yaml"
    written = manifest.read_text()
    manifest.write_text(written.replace("  vm: {source: vm,", "  server: {source: vm,"))
    refused = screen.type("hybridwrap mv vm server")
    setting = refused.partition(".yaml:")[2].partition("): ")[2].splitlines()[0]
    manifest.write_text(written.replace("  vm: {source: vm,", f"  server: {{source: vm, {setting},"))
    screen.type("hybridwrap mv vm server")
    screen.type("hybridwrap apply --auto-approve server")
    check("renamed", screen)
