"""hybridwrap is killed while its engine is at work: the next command finishes what it left, whatever that is."""

from __future__ import annotations

import pytest

from hybridwrap.domain.entry import Kind
from tests.support.fakecloud.cloud import Cloud
from tests.support.lost_runner import hanging, kill, kill_engines, until_said
from tests.support.project import Project, wait

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
