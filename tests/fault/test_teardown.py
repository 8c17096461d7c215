"""Faults of a teardown, with the real engine: what is true afterwards, and that the next command goes on from there.

The others are where their kind is: see TEARDOWN in tests/fault/faults.py.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from hybridwrap.domain.entry import Observe
from hybridwrap.domain.status import Status
from tests.support import s3_servers
from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.faults import Operation
from tests.support.families import family
from tests.support.lost_runner import engines_of, kill, kill_engines, wait_until
from tests.support.project import Project, wait
from tests.support.s3_servers import Server
from tests.support.teardown import chain, destroy, looking_into

pytestmark = pytest.mark.e2e

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path, fakecloud_env: Mapping[str, str], engine_program: str) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    return Project(root, fakecloud_env)


def hanging_destroy(project: Project, cloud: Cloud, name: str, *argv: str) -> subprocess.Popen[str]:
    """A destroy whose engine waits for the cloud's answer to the delete of an object; the object is gone already."""
    cloud.inject(name, "hang")
    process = project.start("destroy", "--auto-approve", *argv)
    cloud.wait_for_calls(Operation.DELETE, name=name)
    return process


def test_a_runner_killed_before_it_could_look_is_followed_by_one_that_does(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    chain(project, engine_program, vm=looking_into(cloud, project.root, "web", "db"))
    assert project.apply().code == 0
    assert destroy(project, "app").code == 0
    kill(hanging_destroy(project, cloud, "web", "vm"))
    running = project.status()["vm"]
    assert (running["status"], running["phase"]) == ("running", "destroy")
    cloud.lift()
    wait_until(lambda: not engines_of(project))

    assert project.run("sync").code == 0

    record = project.ledger().record("vm")
    assert record.settled is Status.DESTROYED
    assert record.evidence[0].startswith("A2: ")
    assert any("verify.absent" in line for line in record.evidence)
    assert destroy(project).code == 0


def test_a_dead_teardown_of_an_orphan_is_finished_as_any_other(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    chain(project, engine_program)
    assert project.apply().code == 0
    file = project.root / "hybridwrap.yaml"
    file.write_text("".join(line for line in file.read_text().splitlines(keepends=True) if "  app:" not in line))
    kill(hanging_destroy(project, cloud, "app", "--orphan", "app"))
    cloud.lift()
    wait_until(lambda: not engines_of(project))

    assert project.run("sync").code == 0

    assert project.ledger().record("app").settled is Status.DESTROYED
    assert destroy(project).code == 0
    assert cloud.objects() == []


def test_an_engine_killed_in_a_destroy_leaves_no_destroyed_module_behind(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    chain(project, engine_program, vm=looking_into(cloud, project.root, "web", "db"))
    assert project.apply().code == 0
    assert destroy(project, "app").code == 0
    process = hanging_destroy(project, cloud, "web", "vm")
    kill_engines(project)
    ran = wait(process)
    cloud.lift()

    assert ran.code == 32, ran.text
    assert project.statuses()["vm"] == "unknown"
    again = destroy(project, "--import-known")
    assert again.code == 0, again.text
    record = project.ledger().record("vm")
    assert record.settled is Status.DESTROYED
    assert record.evidence[0].startswith("A3")
    assert cloud.objects() == []


def test_an_interrupted_destroy_is_an_error_that_the_same_command_finishes(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    chain(project, engine_program)
    assert project.apply().code == 0
    assert destroy(project, "app").code == 0
    process = hanging_destroy(project, cloud, "web", "vm")
    process.send_signal(signal.SIGINT)
    cloud.wait_for_calls(Operation.STOP)
    cloud.lift()

    ran = wait(process)

    assert ran.code == 130, ran.text
    assert project.statuses()["vm"] in {"error", "destroyed"}
    assert project.statuses()["network"] == "ok"
    again = destroy(project)
    assert again.code == 0, again.text


def test_a_runner_killed_between_an_owner_and_its_modules_is_followed_by_one_that_records_them(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    family(project, engine_program)
    assert destroy(project, "user").code == 0
    crash = [sys.executable, "-m", "tests.support.killed_after_owner"]
    environ = {**project.env, "PYTHONPATH": str(REPOSITORY)}
    assert subprocess.run(crash, cwd=project.root, env=environ, check=False).returncode == -signal.SIGKILL

    status = project.status()
    assert (status["vm"]["status"], status["disk"]["status"]) == ("destroyed", "ok")
    assert status["disk"]["reason"] == "gone with its owner vm; the next writing command records that"
    assert project.ledger().record("disk").settled is Status.OK, "a reader writes nothing"

    ran = project.apply("user")  # any writing command, whatever it is about

    assert ran.code != 0, "what it needs is gone"
    assert project.statuses()["disk"] == "destroyed"
    end = project.ledger().history("disk")[-1].body
    assert isinstance(end, Observe)
    assert end.owner_end is not None
    assert end.owner_end.module == "vm"


def test_what_went_with_an_owner_is_recorded_also_when_that_has_a_new_life_by_then(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    family(project, engine_program)
    assert destroy(project, "user").code == 0
    life = project.ledger().record("vm").incarnation
    crash = [sys.executable, "-m", "tests.support.killed_after_owner"]
    environ = {**project.env, "PYTHONPATH": str(REPOSITORY)}
    subprocess.run(crash, cwd=project.root, env=environ, check=False)

    assert project.apply("vm").code == 0

    assert project.statuses()["vm"] == "ok"
    end = project.ledger().history("disk")[-1].body
    assert isinstance(end, Observe)
    assert end.status is Status.DESTROYED
    assert end.owner_end is not None
    assert end.owner_end.incarnation == life


def test_an_owner_that_was_deleted_by_hand_takes_along_what_can_not_be_reached_any_more(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    family(project, engine_program)
    cloud.inject("data", "delete-fails")
    cloud.inject("data", "read-fails")
    assert destroy(project, "user", "disk").code == 4, "it can't be reached"
    cloud.vanish(cloud.only("web").id)

    ran = destroy(project)

    assert ran.code == 0, ran.text
    assert set(project.statuses().values()) == {"destroyed"}
    owner = project.ledger().record("vm")
    assert any("found gone by a refresh" in line for line in owner.evidence)
    end = project.ledger().history("disk")[-1].body
    assert isinstance(end, Observe)
    assert end.owner_end is not None


# What a killed apply made


@pytest.fixture
def in_s3(moto: Server, tmp_path: Path, fakecloud_env: Mapping[str, str], engine_program: str, cloud: Cloud) -> Project:
    """A state that a killed engine had no time to save."""
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, {**fakecloud_env, **s3_servers.environment(), "HYBRIDWRAP_SETTLE": "0"})
    bucket = moto.make_bucket(f"teardown-{engine_program}-{tmp_path.name[-12:].replace('_', '-').lower()}")
    chain(project, engine_program)
    manifest = (project.root / "hybridwrap.yaml").read_text()
    more = moto.state(bucket) + "ledger: {folder: .hybridwrap/ledger}\n"
    (project.root / "hybridwrap.yaml").write_text(manifest + more)
    vm = (project.root / "vm/main.tf").read_text()
    first = 'tags       = { after = fakecloud_server.web.id }\n  name       = "db"'
    (project.root / "vm/main.tf").write_text(vm.replace('name       = "db"', first))
    cloud.inject("db", "hang")
    process = project.start("apply", "--auto-approve", "network", "vm")
    cloud.wait_for_calls(Operation.CREATE, name="db")
    kill_engines(project)
    wait(process)
    cloud.lift()
    return project


def test_a_teardown_of_what_a_killed_apply_made_stops_and_lists_it(in_s3: Project, cloud: Cloud) -> None:
    ran = destroy(in_s3)

    assert ran.code == 32
    assert f"fakecloud_server.web {cloud.only('web').id}" in ran.text
    assert "begun       fakecloud_server.db" in ran.text
    assert "hybridwrap destroy vm --import-known" in ran.text
    assert in_s3.statuses() == {"network": "ok", "vm": "unknown", "app": "none"}
    assert cloud.calls(Operation.DELETE) == []


def test_on_request_it_imports_what_it_knows_destroys_it_and_asks_for_the_rest(
    in_s3: Project, cloud: Cloud, engine_program: str
) -> None:
    ran = destroy(in_s3, "--import-known")

    assert ran.code == 4, ran.text
    assert [thing.name for thing in cloud.objects()] == ["db", "net"], "its id was never told"
    assert in_s3.statuses()["vm"] == "error"
    assert "no delete was seen of fakecloud_server.db" in in_s3.status()["vm"]["reason"]

    text = (in_s3.root / "hybridwrap.yaml").read_text()
    look = looking_into(cloud, in_s3.root, "web", "db")
    (in_s3.root / "hybridwrap.yaml").write_text(text.replace("{source: vm, ", f"{{source: vm, {look}, "))
    assert in_s3.run("verify", "vm").code == 4
    cloud.vanish(cloud.only("db").id)
    assert in_s3.run("verify", "vm").code == 0
    record = in_s3.ledger().record("vm")
    assert record.settled is Status.DESTROYED
    assert record.evidence[0].startswith("A3")
    assert destroy(in_s3).code == 0
    assert cloud.objects() == []
