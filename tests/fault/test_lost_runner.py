"""hybridwrap is killed while its engine is at work: the next command finishes what it left, whatever that is."""

from __future__ import annotations

import shutil

import pytest

from hybridwrap.domain.entry import Kind
from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.faults import Operation
from tests.support.lost_runner import hanging, kill, kill_engines, until_said
from tests.support.project import Project, interrupt, wait

pytestmark = pytest.mark.e2e


def kinds(project: Project, module: str) -> list[Kind]:
    return [entry.kind for entry in project.ledger().history(module)]


def test_the_engine_runs_on_and_the_next_apply_waits_for_it_and_records_its_end(project: Project, cloud: Cloud) -> None:
    with hanging(project, cloud, "gate") as process:
        kill(process)
        assert project.statuses()["network"] == "running"
        assert "engine is at work" in project.status()["network"]["reason"]

        busy = project.apply("--no-wait", "network")
        assert busy.code == 20, busy.text
        assert "its hybridwrap is gone" in busy.text

        waiting = project.start("apply", "--auto-approve")
        until_said(waiting, "waiting for")
    ran = wait(waiting)

    assert ran.code == 0, ran.text
    assert "left behind: network ok" in ran.text
    assert set(project.statuses().values()) == {"ok"}
    assert kinds(project, "network") == ["begin", "end"]
    assert project.outputs()["network"]["ip"]["value"] == cloud.only("gate").attributes["ip"]
    assert project.ledger().verify("network") == []


def test_engine_and_hybridwrap_are_killed(project: Project, cloud: Cloud) -> None:
    with hanging(project, cloud, "gate", "network") as process:
        kill(process)
        kill_engines(project)
    assert "gone" in project.status()["network"]["reason"]

    ran = project.run("sync")

    assert ran.code == 0, ran.text
    assert "left behind: network unknown" in ran.text
    record = project.ledger().record("network")
    assert [(o.address, o.open) for o in record.objects] == [
        ("fakecloud_network.net", False),
        ("fakecloud_server.gate", True),
    ]
    assert project.apply("network").code == 32
    assert len(cloud.objects()) == 2


def test_a_module_that_another_hybridwrap_is_at_work_on_is_waited_for_on_request(
    project: Project, cloud: Cloud
) -> None:
    with hanging(project, cloud, "gate", "network") as process:
        busy = project.apply("network")
        assert busy.code == 20, busy.text
        assert "with --wait" in busy.text
        short = project.apply("network", "--wait=1s")
        assert short.code == 20, short.text
        assert "waiting for its turn" in short.text
        patient = project.start("apply", "--auto-approve", "--wait", "network", "vm")
        until_said(patient, "waiting for its turn")
    assert wait(process).code == 0
    ran = wait(patient)
    assert ran.code == 0, ran.text
    assert kinds(project, "network") == ["begin", "end"]
    assert project.statuses()["vm"] == "ok"


def test_ctrl_c_ends_the_waiting_and_leaves_the_others_alone(project: Project, cloud: Cloud) -> None:
    with hanging(project, cloud, "gate", "network") as process:
        waiting = project.start("apply", "--auto-approve", "--wait", "network", "vm")
        until_said(waiting, "waiting for its turn")
        interrupt(waiting)
        ran = wait(waiting)
    assert ran.code == 130, ran.text
    assert wait(process).code == 0
    assert cloud.calls(Operation.STOP) == []
    assert project.statuses()["vm"] == "pending"


def test_an_operation_without_a_place_for_its_files_is_not_begun(project: Project, cloud: Cloud) -> None:
    assert project.run("init").code == 0
    operations = project.root / ".hybridwrap/operations"
    shutil.rmtree(operations)
    operations.write_text("in the way")
    ran = project.apply("network")
    assert ran.code == 10, ran.text
    assert "operations" in ran.text
    assert kinds(project, "network") == []
    assert cloud.calls(Operation.CREATE) == []


def test_what_a_killed_plan_left_lying_is_gone_after_the_next_command(project: Project, cloud: Cloud) -> None:
    assert project.apply("docs").code == 0
    left = project.root / ".hybridwrap/operations/01LEFT"
    left.mkdir(mode=0o700)
    for name in ("runner.lock", "plan", "vars.tfvars.json", "plan.jsonl"):
        (left / name).write_text("secret")
    assert project.apply("docs").code == 0
    assert not left.exists()
