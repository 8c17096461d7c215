"""Owned modules go with their owner: not before, not on its word, and each with the proof of its own time."""

from __future__ import annotations

import json
import shutil
import stat
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path

import pytest

from hybridwrap.domain.codec import digest_of
from hybridwrap.domain.entry import Begin, End, Observe
from hybridwrap.domain.status import Status
from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.faults import Operation
from tests.support.families import family
from tests.support.project import Project
from tests.support.teardown import destroy

pytestmark = pytest.mark.e2e


@pytest.fixture
def project(tmp_path: Path, fakecloud_env: Mapping[str, str], engine_program: str) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, fakecloud_env)
    family(project, engine_program)
    return project


def entry_file(project: Project, module: str, seq: int) -> bytes:
    return (project.root / f".hybridwrap/ledger/v1/shop/default/log/{module}/{seq:08}.json").read_bytes()


def observed(project: Project) -> Observe:
    body = project.ledger().history("disk")[-1].body
    assert isinstance(body, Observe)
    return body


def test_an_owned_module_is_not_destroyed_itself_and_cites_its_owner_s_end(project: Project, cloud: Cloud) -> None:
    life = project.ledger().record("vm").incarnation
    disk = cloud.only("data").id

    ran = destroy(project)

    assert ran.code == 0, ran.text
    assert set(project.statuses().values()) == {"destroyed"}
    assert cloud.calls(Operation.DELETE, name="data") == []
    proof = observed(project).owner_end
    assert proof is not None
    end = project.ledger().history("vm")[proof.seq - 1]
    assert isinstance(end.body, End)
    assert (end.body.status, end.incarnation, proof.incarnation) == (Status.DESTROYED, life, life)
    assert proof.digest == digest_of(entry_file(project, "vm", proof.seq))
    assert project.ledger().record("disk").outputs["id"].value == disk, "archived"


def test_its_state_is_archived_and_emptied_by_the_engine_as_an_operation(project: Project, cloud: Cloud) -> None:
    before = (project.root / ".hybridwrap/state/default/disk.tfstate").read_bytes()

    assert destroy(project).code == 0

    commands = [e.body.command for e in project.ledger().history("disk") if isinstance(e.body, Begin)]
    assert commands == ["apply", "tf state rm"]
    state = json.loads((project.root / ".hybridwrap/state/default/disk.tfstate").read_text())
    assert state["resources"] == []
    (kept,) = (project.root / ".hybridwrap/operations").glob("*/state.tfstate")
    assert kept.read_bytes() == before
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert any(str(kept) in line for line in observed(project).evidence)


def test_with_an_encrypted_ledger_the_archive_is_in_the_ledger(project: Project, cloud: Cloud) -> None:
    file = project.root / "hybridwrap.yaml"
    file.write_text(file.read_text() + "ledger: {encryption: {key_from_env: KEY}}\n")

    assert destroy(project, KEY=b64encode(bytes(32)).decode()).code == 0

    assert any("is kept as blob" in line for line in observed(project).evidence)


def test_its_dependants_go_before_its_owner(project: Project, cloud: Cloud) -> None:
    ran = destroy(project, "vm")
    assert ran.code == 10
    assert "teardown waits for user (ok)" in ran.text
    assert destroy(project, "user").code == 0
    ran = destroy(project, "vm")
    assert ran.code == 0
    assert project.statuses() == {"vm": "destroyed", "disk": "destroyed", "user": "destroyed"}


def test_the_failure_of_its_owner_leaves_it_as_it_was(project: Project, cloud: Cloud) -> None:
    cloud.inject("web", "delete-fails")
    before = project.ledger().record("disk")

    ran = destroy(project)

    assert ran.code == 4
    assert project.statuses() == {"vm": "error", "disk": "ok", "user": "destroyed"}
    assert project.status()["disk"]["reason"] == "teardown waits for vm"
    assert project.ledger().record("disk") == before
    cloud.lift()
    assert destroy(project).code == 0
    assert set(project.statuses().values()) == {"destroyed"}


def test_named_it_is_destroyed_itself_with_evidence_of_its_own(project: Project, cloud: Cloud) -> None:
    assert destroy(project, "user", "disk").code == 0

    end = project.ledger().history("disk")[-1].body
    assert isinstance(end, End)
    assert end.status is Status.DESTROYED
    assert [call.name for call in cloud.calls(Operation.DELETE)] == ["data"]
    assert project.statuses()["vm"] == "ok"


def test_without_its_owner_in_the_run_it_waits_and_says_how_to_go_alone(project: Project, cloud: Cloud) -> None:
    assert destroy(project, "user").code == 0

    ran = destroy(project, "--exclude", "vm")

    assert ran.code == 10
    assert "teardown waits for its owner vm" in ran.text
    assert "next: hybridwrap destroy disk" in ran.text
    assert project.statuses()["disk"] == "ok"


def test_a_new_life_of_the_owner_does_not_touch_the_old_proof(project: Project, cloud: Cloud) -> None:
    assert destroy(project).code == 0
    proof = observed(project).owner_end

    assert project.apply("vm").code == 0
    assert project.statuses() == {"vm": "ok", "disk": "destroyed", "user": "destroyed"}
    assert observed(project).owner_end == proof

    assert project.apply().code == 0
    assert destroy(project).code == 0
    second = observed(project).owner_end
    assert proof is not None
    assert second is not None
    assert second.seq > proof.seq
    assert second.incarnation != proof.incarnation
    assert project.call("ledger", "verify").code == 0


def test_what_was_applied_before_it_had_an_owner_goes_by_itself(project: Project, cloud: Cloud) -> None:
    assert destroy(project).code == 0
    file = project.root / "hybridwrap.yaml"
    with_owner = file.read_text()
    file.write_text(with_owner.replace("owner: vm, ", ""))
    assert project.apply().code == 0
    file.write_text(with_owner)

    assert destroy(project).code == 0

    assert [call.name for call in cloud.calls(Operation.DELETE, name="data")] == ["data"]
    assert set(project.statuses().values()) == {"destroyed"}


def test_an_owned_module_that_left_the_manifest_with_its_folder_still_goes_with_its_owner(
    project: Project, cloud: Cloud
) -> None:
    assert destroy(project, "user").code == 0
    file = project.root / "hybridwrap.yaml"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if "  disk:" not in line and "  user:" not in line))
    shutil.rmtree(project.root / "disk")

    ran = destroy(project)

    assert ran.code == 0, ran.text
    assert project.ledger().record("vm").settled is Status.DESTROYED
    assert project.call("orphans", "--json").json["orphans"] == []
    assert project.ledger().record("disk").settled is Status.DESTROYED
    assert cloud.objects() == []


def test_a_module_goes_with_its_owner_also_under_the_owner_s_new_name(project: Project, cloud: Cloud) -> None:
    file = project.root / "hybridwrap.yaml"
    place = "state: {local: {path: .hybridwrap/state/default/vm.tfstate}}"
    renamed = file.read_text().replace("  vm: {source: vm}", f"  web: {{source: vm, {place}}}")
    file.write_text(renamed.replace("owner: vm", "owner: web").replace("modules.vm.", "modules.web."))
    ran = project.run("mv", "vm", "web")
    assert ran.code == 0, ran.text

    ran = destroy(project)

    assert ran.code == 0, ran.text
    assert cloud.calls(Operation.DELETE, name="data") == []
    proof = observed(project).owner_end
    assert proof is not None
    assert proof.module == "web"
    assert cloud.objects() == []
