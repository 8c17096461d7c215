"""Every transcript on the page for operators is what is printed."""

from __future__ import annotations

import shutil

import pytest

from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.faults import Operation
from tests.support.lost_runner import hanging, kill, kill_engines, ledger_of, lose_host, until_said, until_sent
from tests.support.pages import Check, Screen
from tests.support.project import Project, wait

pytestmark = pytest.mark.e2e
APPLY = "hybridwrap apply --auto-approve network"


def test_busy(project: Project, cloud: Cloud, screen: Screen, check: Check) -> None:
    with hanging(project, cloud, "gate", "network") as process:
        until_sent(project.ledger(), "fakecloud_server.gate")
        screen.type("hybridwrap apply --auto-approve --parallelism 1")
        screen.type("hybridwrap unlock network")
    assert wait(process).code == 0
    check("busy", screen)


def test_runner_killed(project: Project, cloud: Cloud, screen: Screen, check: Check) -> None:
    with hanging(project, cloud, "gate", "network") as process:
        until_sent(project.ledger(), "fakecloud_server.gate")
        kill(process)
        screen.type("hybridwrap status")
        waiting = screen.start(APPLY)
        screen.lines.append(until_said(waiting, "waiting for"))
    screen.until_it_ends(waiting)
    check("runner-killed", screen)


def test_both_killed(project: Project, cloud: Cloud, screen: Screen, check: Check) -> None:
    with hanging(project, cloud, "gate", "network") as process:
        until_sent(project.ledger(), "fakecloud_server.gate")
        kill(process)
        kill_engines(project)
    screen.type("hybridwrap status")
    screen.type("hybridwrap sync")
    screen.type(APPLY)
    check("both-killed", screen)


def test_host_gone(on_s3: Project, cloud: Cloud, check: Check) -> None:
    lose_host(on_s3, cloud)
    screen = Screen(on_s3)
    screen.type(APPLY)
    screen.type("hybridwrap unlock network")
    operation = ledger_of(on_s3).record("network").operation
    screen.type(
        f"hybridwrap unlock network --operation {operation} --reason 'job 4711 was cancelled, its runner is gone'"
    )
    check("host-gone", screen)


def test_result_not_sent(project: Project, cloud: Cloud, screen: Screen, check: Check) -> None:
    ledger = project.root / ".hybridwrap/ledger"
    away = ledger.with_name("unmounted")
    cloud.observe(["mv", str(ledger), str(away)], operation=Operation.CREATE, pattern="gate")
    assert "exit code 34" in (screen.type(APPLY), screen.lines[-1])[1]
    shutil.rmtree(ledger, ignore_errors=True)
    away.rename(ledger)
    screen.type("hybridwrap status")
    screen.type("hybridwrap sync")
    check("result-not-sent", screen)


def test_state_lock(on_s3: Project, cloud: Cloud, check: Check) -> None:
    lose_host(on_s3, cloud, sent=False)
    screen = Screen(on_s3)
    operation = ledger_of(on_s3).record("network").operation
    stopped = screen.type(f"hybridwrap unlock network --operation {operation} --reason 'its runner is gone'")
    lock = stopped.partition("--state-lock ")[2].split()[0]
    screen.type(f"hybridwrap unlock network --state-lock {lock}")
    check("state-lock", screen)
