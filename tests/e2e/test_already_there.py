"""Something of that name is there already, and in no state: it is said so, and what to type leads on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.faults import Operation
from tests.support.project import FAKECLOUD, Project

pytestmark = pytest.mark.e2e

WEB = FAKECLOUD + 'resource "fakecloud_server" "web" { name = "web" }\n'


def test_it_says_so_and_what_to_type(tmp_path: Path, fakecloud_env: Mapping[str, str], cloud: Cloud) -> None:
    project = Project(tmp_path / "project", fakecloud_env)
    project.root.mkdir()
    project.write("version: 1\nstack: shop\nmodules: {vm: {source: vm}}\n", vm=WEB)
    made = cloud.add("server", "web", attributes={"ip": "10.0.0.1"})
    cloud.inject("web", "taken")

    ran = project.apply()

    assert ran.code == 4, ran.text
    command = "hybridwrap tf vm -- import fakecloud_server.web ID"
    assert f"next: {command}    if it is yours" in ran.text
    assert f"next: {command}" in project.call("why", "vm").text
    assert len(cloud.calls(Operation.CREATE)) == 1, "no further try by itself"
    assert [thing.id for thing in cloud.objects()] == [made.id], "nothing is taken in or deleted by itself"

    imported = project.run(*command.replace("ID", made.id).split()[1:])
    assert imported.code == 0, imported.text
    resumed = project.run("resume", "--auto-approve")
    assert resumed.code == 0, resumed.text
    assert project.statuses() == {"vm": "ok"}
    assert [thing.id for thing in cloud.objects()] == [made.id]
