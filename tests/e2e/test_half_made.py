"""An object that was made and not finished: the next apply would destroy it, so that is said, and how it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.fakecloud.cloud import Cloud
from tests.support.project import FAKECLOUD, Project

pytestmark = pytest.mark.e2e

WEB = FAKECLOUD + 'resource "fakecloud_server" "web" {\n  for_each = toset(["a b"])\n  name     = "web"\n}\n'


@pytest.fixture
def project(tmp_path: Path, fakecloud_env: Mapping[str, str], cloud: Cloud) -> Project:
    project = Project(tmp_path / "project", fakecloud_env)
    project.root.mkdir()
    project.write("version: 1\nstack: shop\nmodules: {vm: {source: vm}}\n", vm=WEB)
    cloud.inject("web", "partial")
    return project


def test_it_is_said_what_becomes_of_it_and_how_it_is_kept(project: Project, cloud: Cloud) -> None:
    ran = project.apply()

    assert ran.code == 4, ran.text
    made = cloud.only("web")
    address = """'fakecloud_server.web["a b"]'"""
    kept = f"hybridwrap tf vm -- untaint {address}"
    (warning,) = project.status()["vm"]["warnings"]
    assert "is tainted: the next apply makes it anew" in warning
    assert kept in warning
    assert "tainted" not in ran.text

    cloud.lift()
    untainted = project.run("tf", "vm", "--", "untaint", address.strip("'"))
    assert untainted.code == 0, untainted.text
    assert project.apply().code == 0
    assert cloud.objects() == [made]
    assert project.status()["vm"]["warnings"] == []


def test_left_alone_it_is_made_again(project: Project, cloud: Cloud) -> None:
    assert project.apply().code == 4
    made = cloud.only("web")
    cloud.lift()
    assert project.apply().code == 0
    assert cloud.only("web").id != made.id
    assert project.status()["vm"]["warnings"] == []
