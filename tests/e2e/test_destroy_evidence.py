"""Destroyed is written only with evidence: engines, providers and probes that say otherwise are not believed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from hybridwrap.domain.entry import Confirm, End, Observe
from hybridwrap.domain.status import Status
from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.faults import Operation
from tests.support.prepared import Prepared
from tests.support.project import FAKECLOUD, Project
from tests.support.teardown import applied_chain, chain, destroy, looking_into

pytestmark = pytest.mark.e2e


@pytest.fixture
def bare(
    tmp_path: Path, fakecloud_env: Mapping[str, str], engine_program: str, prepared: Prepared, cloud: Cloud
) -> Project:
    """The chain, applied; nobody can be asked."""
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, fakecloud_env)
    applied_chain(project, prepared, engine_program, cloud)
    return project


@pytest.fixture
def project(bare: Project, cloud: Cloud, engine_program: str) -> Project:
    """The same, with somebody to ask about the vm."""
    chain(bare, engine_program, vm=looking_into(cloud, bare.root, "web", "db"))
    return bare


def answer(project: Project, code: str) -> None:
    (project.root / "answer").write_text(code)


def test_the_end_entry_carries_the_evidence_and_show_prints_it(bare: Project, cloud: Cloud) -> None:
    web = cloud.only("web").id
    assert destroy(bare).code == 0

    end = bare.ledger().history("vm")[-1].body

    assert isinstance(end, End)
    assert (end.status, end.objects) == (Status.DESTROYED, ())
    assert end.evidence[0].startswith("A2: ")
    assert any("no object in .hybridwrap/state/default/vm.tfstate" in line for line in end.evidence)
    assert any(web in line for line in end.evidence)
    shown = bare.call("show", "-v").out
    assert "evidence" in shown
    assert web in shown


def test_a_provider_that_lies_is_found_out_by_whoever_looks(project: Project, cloud: Cloud) -> None:
    web = cloud.only("web").id
    cloud.inject("web", "lies-deleted")

    ran = destroy(project)

    assert ran.code == 4
    record = project.ledger().record("vm")
    assert record.settled is Status.ERROR
    assert [(o.address, o.id, o.open) for o in record.objects] == [("fakecloud_server.web", web, True)]
    assert "the engine says that all is destroyed, but" in record.reason
    assert web in ran.text
    assert project.statuses()["network"] == "ok", "what it needs waits"
    kinds = [type(entry.body) for entry in project.ledger().history("vm")]
    assert kinds[-2:] == [Confirm, End], "that probes follow is recorded first"

    assert destroy(project).code == 4, "an empty plan proves nothing"
    assert project.statuses()["vm"] == "error"

    cloud.vanish(web)
    assert project.run("verify", "vm").code == 0
    assert project.statuses()["vm"] == "destroyed"
    assert destroy(project).code == 0


def test_an_object_that_came_with_an_error_and_no_id_is_searched_for(
    bare: Project, cloud: Cloud, engine_program: str
) -> None:
    assert destroy(bare).code == 0
    cloud.inject("web", "gone")
    assert bare.apply("network", "vm").code != 0
    assert {thing.name for thing in cloud.objects()} == {"net", "web", "db"}
    cloud.lift()

    ran = destroy(bare, "--import-known")

    assert ran.code != 0
    assert bare.statuses()["vm"] in {"error", "unknown"}
    assert [thing.name for thing in cloud.objects("server")] == ["web"]

    chain(bare, engine_program, vm=looking_into(cloud, bare.root, "web", "db"))
    assert destroy(bare, "--import-known").code != 0
    assert bare.statuses()["vm"] == "error"
    cloud.vanish(cloud.only("web").id)
    assert destroy(bare, "--import-known").code == 0
    assert bare.statuses()["vm"] == "destroyed"


def test_an_object_taken_out_of_the_state_is_alive(bare: Project, cloud: Cloud) -> None:
    assert destroy(bare, "app").code == 0
    assert bare.run("tf", "vm", "--", "state", "rm", "fakecloud_server.web").code == 0

    ran = destroy(bare, "vm")

    assert ran.code == 4
    assert bare.statuses()["vm"] == "error"
    assert "no delete was seen of fakecloud_server.web" in bare.status()["vm"]["reason"]
    assert [thing.name for thing in cloud.objects("server")] == ["web"]


def test_a_lying_engine_that_does_nothing_and_exits_well_destroys_nothing(
    bare: Project, cloud: Cloud, engine_program: str, tmp_path: Path
) -> None:
    if engine_program == "embedded":
        pytest.skip("the lie is told by a program in its place")
    liar = tmp_path / "terraform"
    liar.write_text(
        f"#!{sys.executable}\nimport os, shutil, sys\n"
        "real = shutil.which('terraform', path=os.environ['REAL_PATH'])\n"
        "if sys.argv[1] == 'apply':\n"
        '    print(\'{"@message":"x","type":"change_summary","changes":{"add":0,"change":0,"remove":2,'
        '"operation":"destroy"}}\')\n'
        "    sys.exit(0)\n"
        "os.execv(real, ['terraform', *sys.argv[1:]])\n"
    )
    liar.chmod(0o755)
    environ = {"PATH": f"{tmp_path}:{bare.env['PATH']}", "REAL_PATH": bare.env["PATH"]}

    ran = destroy(bare, "app", **environ)

    assert ran.code != 0
    assert bare.statuses()["app"] != "destroyed"
    assert cloud.only("app")


@pytest.mark.parametrize(("code", "word"), [("2", "403 Forbidden"), ("255", "403 Forbidden")])
def test_forbidden_and_unreachable_are_never_absent(project: Project, cloud: Cloud, code: str, word: str) -> None:
    answer(project, code)

    ran = destroy(project)

    assert ran.code == 4
    assert project.statuses()["vm"] == "error"
    assert "nobody could look" in project.status()["vm"]["reason"]
    assert word in project.status()["vm"]["reason"]
    assert cloud.objects("server") == []
    assert project.run("verify", "vm").code == 4
    assert project.statuses()["vm"] == "error"

    answer(project, "")
    assert project.run("verify", "vm").code == 0
    assert project.statuses()["vm"] == "destroyed"


def test_a_module_that_was_unknown_once_has_to_be_looked_for_twice(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    ledger = project.ledger()
    ledger.open()
    ledger.observe(ledger.record("vm"), Observe("R0", "nobody saw it end", Status.UNKNOWN))
    chain(project, engine_program)

    ran = destroy(project)

    assert ran.code == 4
    assert "its outcome was unknown once" in project.status()["vm"]["reason"]
    assert cloud.objects("server") == []

    chain(project, engine_program, vm=looking_into(cloud, project.root, "web", "db"))
    assert project.run("verify", "vm").code == 0
    record = project.ledger().record("vm")
    assert record.settled is Status.DESTROYED
    assert record.evidence[0].startswith("A3")
    assert sum("verify.absent" in line for line in record.evidence) == 2


def test_what_was_deleted_by_hand_is_found_gone_by_the_refresh(bare: Project, cloud: Cloud) -> None:
    for thing in cloud.objects("server"):
        cloud.vanish(thing.id)

    assert destroy(bare).code == 0

    assert cloud.calls(Operation.DELETE, name="web") == []
    assert set(bare.statuses().values()) == {"destroyed"}


def test_what_can_be_read_no_more_is_not_gone(bare: Project, cloud: Cloud) -> None:
    cloud.inject("app", "read-fails")

    assert destroy(bare).code == 4

    assert bare.statuses() == {"network": "ok", "vm": "ok", "app": "ok"}, "a failed plan is no answer"


def test_verify_looks_again_at_what_is_destroyed_already(project: Project, cloud: Cloud) -> None:
    assert destroy(project).code == 0
    assert project.run("verify", "vm").code == 0
    assert isinstance(project.ledger().history("vm")[-1].body, Observe)

    answer(project, "2")
    assert project.run("verify", "vm").code == 4
    assert project.statuses()["vm"] == "destroyed", "nobody could look: no news"

    answer(project, "")
    thing = cloud.add("server", "web")
    ran = project.run("verify", "vm")
    assert ran.code == 4
    assert project.statuses()["vm"] == "error"
    assert [o["id"] for o in project.status()["vm"]["objects"]["open"]] == [thing.id]


def test_verify_leaves_alone_what_was_not_torn_down(bare: Project) -> None:
    ran = bare.run("verify")
    assert ran.code == 0
    assert "its engine has not destroyed it" in ran.text
    assert set(bare.statuses().values()) == {"ok"}


def test_verify_without_anybody_to_ask_reads_the_state(bare: Project) -> None:
    assert destroy(bare).code == 0
    assert "nobody else can be asked" in bare.run("verify", "vm").text


def test_an_object_that_is_no_longer_managed_makes_the_module_retained(
    bare: Project, cloud: Cloud, engine_program: str
) -> None:
    web = cloud.only("web").id
    assert destroy(bare, "app").code == 0
    kept = FAKECLOUD + (
        'variable "network_id" { type = string }\n'
        "removed {\n  from = fakecloud_server.web\n  lifecycle { destroy = false }\n}\n"
        'resource "fakecloud_server" "db" {\n  name       = "db"\n  network_id = var.network_id\n}\n'
    )
    text = (bare.root / "hybridwrap.yaml").read_text()
    bare.write("".join(line for line in text.splitlines(keepends=True) if "  app:" not in line), vm=kept)
    assert bare.apply().code == 0
    assert [o.id for o in bare.ledger().record("vm").objects if o.retained] == [web]

    ran = destroy(bare)

    assert ran.code == 0, ran.text
    assert bare.statuses() == {"network": "destroyed", "vm": "retained", "app": "destroyed"}
    assert "fakecloud_server.web" in bare.status()["vm"]["reason"]
    assert [thing.id for thing in cloud.objects()] == [web]
