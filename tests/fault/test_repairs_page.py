"""Every transcript of the page for operators that ends with a module put right is what is printed."""

from __future__ import annotations

import pytest

from tests.support.engines import engines
from tests.support.fakecloud.cloud import Cloud
from tests.support.lost_runner import hanging, kill_engines
from tests.support.pages import Check, Screen
from tests.support.project import Project, wait
from tests.support.s3_servers import Fault, Server

pytestmark = pytest.mark.e2e
APPLY = "hybridwrap apply --auto-approve network"


def engine_killed(project: Project, cloud: Cloud) -> Screen:
    """An apply whose engine is killed: `net` is made and not saved, `gate` is there, and nobody has its id."""
    screen = Screen(project)
    with hanging(project, cloud, "gate", "network") as process:
        kill_engines(project)
        ran = wait(process)
        screen.note(APPLY, ran.out, ran.code)
    return screen


def state_refused(project: Project, moto: Server) -> Screen:
    """An apply whose state the bucket does not take."""
    screen = Screen(project)
    assert moto.app
    moto.app.faults.append(Fault("PUT", r"network\.tfstate$", status=403, code="AccessDenied"))
    screen.type(APPLY)
    return screen


def test_unknown(on_s3: Project, cloud: Cloud, check: Check) -> None:
    screen = engine_killed(on_s3, cloud)
    screen.type("hybridwrap reconcile")
    screen.type("hybridwrap reconcile network --import")
    screen.type(f"hybridwrap reconcile network --import --id fakecloud_server.gate={cloud.only('gate').id}")
    screen.type(APPLY)
    assert len(cloud.objects()) == 2
    check("unknown", screen)


def test_absent(on_s3: Project, cloud: Cloud, check: Check) -> None:
    engine_killed(on_s3, cloud)
    cloud.vanish(cloud.only("gate").id)
    assert on_s3.run("reconcile", "network", "--import").code == 0
    screen = Screen(on_s3)
    screen.type("hybridwrap reconcile network --absent fakecloud_server.gate --reason 'not in the console'")
    screen.type(APPLY)
    assert len(cloud.objects()) == 2
    check("absent", screen)


def test_state_not_saved(on_s3: Project, moto: Server, check: Check) -> None:
    screen = state_refused(on_s3, moto)
    screen.type(APPLY)
    assert moto.app
    moto.app.faults.clear()
    screen.type("hybridwrap reconcile network --push-state")
    check("state-not-saved", screen)


def test_state_forked(on_s3: Project, moto: Server, cloud: Cloud, check: Check) -> None:
    state_refused(on_s3, moto)
    assert moto.app
    moto.app.faults.clear()
    (data,) = (on_s3.root / ".hybridwrap" / "data" / "default" / "network").iterdir()
    raw = next(engine for engine in engines().values() if engine)
    env = {**on_s3.environ, "TF_DATA_DIR": str(data)}
    raw.must(on_s3.root / "network", "apply", "-auto-approve", "-input=false", env=env)
    screen = Screen(on_s3)
    screen.type("hybridwrap reconcile network --push-state")
    check("state-forked", screen)
