"""Every transcript about tearing down on the page for operators is what is printed."""

from __future__ import annotations

import pytest

from tests.support.fakecloud.cloud import Cloud
from tests.support.families import family
from tests.support.pages import Check, Screen
from tests.support.project import Project
from tests.support.teardown import chain, looking_into

pytestmark = pytest.mark.e2e
DESTROY = "hybridwrap destroy --auto-approve"


def test_half_way(project: Project, cloud: Cloud, screen: Screen, check: Check, engine_program: str) -> None:
    chain(project, engine_program)
    assert project.apply().code == 0
    cloud.inject("web", "delete-once-fails")
    screen.type(DESTROY)
    screen.type(DESTROY)
    check("teardown-half-way", screen)


def test_survivor(project: Project, cloud: Cloud, screen: Screen, check: Check, engine_program: str) -> None:
    chain(project, engine_program, vm=looking_into(cloud, project.root, "web", "db"))
    assert project.apply().code == 0
    assert project.run("destroy", "--auto-approve", "app").code == 0
    web = cloud.only("web").id
    cloud.inject("web", "lies-deleted")
    screen.type(f"{DESTROY} vm")
    cloud.vanish(web)
    screen.type("hybridwrap verify vm")
    check("teardown-survivor", screen)


def test_owner(project: Project, cloud: Cloud, screen: Screen, check: Check, engine_program: str) -> None:
    family(project, engine_program)
    screen.type(DESTROY)
    screen.type("hybridwrap show -m disk")
    check("teardown-owner", screen)


def test_orphan(project: Project, cloud: Cloud, screen: Screen, check: Check, engine_program: str) -> None:
    chain(project, engine_program)
    assert project.apply().code == 0
    file = project.root / "hybridwrap.yaml"
    file.write_text("".join(line for line in file.read_text().splitlines(keepends=True) if "  app:" not in line))
    screen.type("hybridwrap orphans")
    screen.type(f"{DESTROY} --orphan app")
    check("teardown-orphan", screen)
