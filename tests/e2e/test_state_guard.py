"""A state that is not the recorded one stops a run before anything; one that moved on is used."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.fakecloud.cloud import Cloud
from tests.support.project import FAKECLOUD, Project

pytestmark = pytest.mark.e2e

WEB = (
    FAKECLOUD + 'resource "fakecloud_server" "web" { name = "web" }\noutput "ip" { value = fakecloud_server.web.ip }\n'
)
STATE = ".hybridwrap/state/default/vm.tfstate"


@pytest.fixture
def project(tmp_path: Path, fakecloud_env: Mapping[str, str]) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, fakecloud_env)
    project.write("version: 1\nstack: shop\nmodules:\n  vm: {source: vm}\n", vm=WEB)
    assert project.apply().code == 0
    return project


def rewrite(file: Path, **changes: Any) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda file: file.unlink(), "absent"),
        (lambda file: rewrite(file, serial=0), "older"),
        (lambda file: rewrite(file, lineage="11111111-2222-3333-4444-555555555555"), "another lineage"),
    ],
    ids=["absent", "older", "foreign"],
)
@pytest.mark.parametrize("command", ["apply", "destroy"])
def test_a_state_that_is_not_the_recorded_one_stops_everything(
    project: Project, cloud: Cloud, command: str, harm: Callable[[Path], None], said: str
) -> None:
    harm(project.root / STATE)
    before = [call for call in cloud.calls() if call.operation != "read"]

    ran = project.run(command, "--auto-approve")

    assert ran.code == 32, ran.text
    assert said in ran.text
    assert "likely" in ran.text
    assert [call for call in cloud.calls() if call.operation != "read"] == before
    assert project.statuses()["vm"] == ("pending" if command == "apply" else "ok")


def test_a_state_of_zero_bytes_is_not_taken_for_no_state(project: Project, cloud: Cloud) -> None:
    (project.root / STATE).write_bytes(b"")
    ran = project.apply()
    assert ran.code == 32, ran.text
    assert len(cloud.objects(name="web")) == 1


def test_a_state_that_moved_on_outside_is_used_and_said(project: Project) -> None:
    serial = json.loads((project.root / STATE).read_text())["serial"]
    rewrite(project.root / STATE, serial=serial + 2)
    ran = project.apply()
    assert ran.code == 0, ran.text
    assert f"changed outside (serial {serial} -> {serial + 2})" in ran.text
    assert "changed outside" not in project.apply().text, "once is enough"


def test_another_place_is_refused_unless_somebody_vouches_for_it(project: Project) -> None:
    elsewhere = project.root / "elsewhere.tfstate"
    text = (
        (project.root / "hybridwrap.yaml")
        .read_text()
        .replace("{source: vm}", "{source: vm, state: {local: {path: elsewhere.tfstate}}}")
    )
    shutil.copy(project.root / STATE, elsewhere)
    (project.root / STATE).unlink()
    shutil.rmtree(project.root / ".hybridwrap" / "data")
    (project.root / "hybridwrap.yaml").write_text(text)

    refused = project.apply()
    assert refused.code == 10, refused.text
    assert "elsewhere.tfstate" in refused.text
    assert STATE in refused.text

    assert project.apply("--state-moved").code == 0
    assert project.apply().code == 0, "the new place is the recorded one now"


def test_a_state_of_a_newer_engine_is_said_before_an_older_one_writes_over_it(project: Project) -> None:
    rewrite(project.root / STATE, terraform_version="1.99.0")
    ran = project.run("plan")
    assert "its state was written by version 1.99.0" in ran.text, ran.text
    assert "is older" in ran.text
