"""Destroy with the real command and engine: its order, what it asks, what it leaves alone, and its second call."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from hybridwrap.domain.status import Outcome, Status
from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.faults import Operation
from tests.support.prepared import Prepared
from tests.support.project import FAKECLOUD, Project
from tests.support.teardown import VM, applied_chain, chain, destroy
from tests.support.terminal import Terminal

pytestmark = pytest.mark.e2e


@pytest.fixture
def project(tmp_path: Path, fakecloud_env: Mapping[str, str], engine_program: str) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, fakecloud_env)
    chain(project, engine_program)
    return project


@pytest.fixture
def standing(project: Project, prepared: Prepared, engine_program: str, cloud: Cloud) -> Project:
    """The same, applied."""
    applied_chain(project, prepared, engine_program, cloud)
    return project


def deleted(cloud: Cloud) -> list[str]:
    return [call.name for call in cloud.calls(Operation.DELETE) if not call.error]


def test_a_teardown_that_stops_half_way_is_finished_by_its_second_call(standing: Project, cloud: Cloud) -> None:
    network, web = cloud.only("net").id, cloud.only("web").id
    cloud.inject("web", "delete-once-fails")

    first = destroy(standing)

    assert first.code == 4
    status = standing.status()
    assert {name: module["status"] for name, module in status.items()} == {
        "network": "ok",
        "vm": "error",
        "app": "destroyed",
    }
    assert "1 of 2 left: fakecloud_server.web" in status["vm"]["reason"]
    assert status["network"]["reason"] == "teardown waits for vm"
    assert [o["id"] for o in status["vm"]["objects"]["known"]] == [web]
    outputs = standing.outputs()
    assert outputs["network"]["id"]["value"] == network
    assert (outputs["vm"]["id"]["value"], outputs["vm"]["id"]["provenance"]) == (web, "stale")
    state = json.loads((standing.root / ".hybridwrap/state/default/vm.tfstate").read_text())
    assert state["outputs"] == {}, "the engine has forgotten them"
    assert "Still there" in first.text
    assert f"fakecloud_server.web {web}" in first.text
    assert f"fakecloud_network.net {network}" in first.text

    second = destroy(standing)

    assert second.code == 0, second.text
    assert set(standing.statuses().values()) == {"destroyed"}
    assert cloud.objects() == []
    record = standing.ledger().record("vm")
    assert (record.settled, record.outcome) == (Status.DESTROYED, Outcome.SUCCEEDED)
    assert record.outputs["id"].value == web, "archived"


def test_a_third_call_finds_nothing_to_do(standing: Project, cloud: Cloud) -> None:
    assert destroy(standing).code == 0
    calls = len(cloud.calls())
    entries = {name: len(standing.ledger().history(name)) for name in standing.statuses()}

    ran = destroy(standing)

    assert ran.code == 0
    assert "3 unchanged" in ran.text
    assert len(cloud.calls()) == calls
    assert {name: len(standing.ledger().history(name)) for name in entries} == entries


def test_each_module_goes_after_its_dependants_also_in_a_diamond(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    def module(name: str) -> str:
        return FAKECLOUD + f'resource "fakecloud_network" "it" {{ name = "{name}" }}\n'

    project.write(
        f"""
version: 1
stack: shop
engine: {{program: {engine_program}}}
modules:
  base: {{source: base}}
  left: {{source: left, depends_on: [base]}}
  right: {{source: right, depends_on: [base]}}
  top: {{source: top, depends_on: [left, right]}}
""",
        **{name: module(name) for name in ("base", "left", "right", "top")},
    )
    assert project.apply().code == 0

    assert destroy(project).code == 0

    order = deleted(cloud)
    assert order[0] == "top"
    assert set(order[1:3]) == {"left", "right"}
    assert order[3] == "base"


def test_nothing_is_begun_while_a_module_outside_of_the_run_needs_it(standing: Project, cloud: Cloud) -> None:
    ran = destroy(standing, "network", "vm")

    assert ran.code == 10
    assert "teardown waits for app (ok)" in ran.text
    assert "hybridwrap destroy vm --with-dependents" in ran.text
    assert deleted(cloud) == []
    assert set(standing.statuses().values()) == {"ok"}
    assert standing.status()["network"]["reason"] == "teardown waits for vm"
    assert destroy(standing, "app").code == 0
    assert destroy(standing, "vm").code == 0
    assert destroy(standing, "network").code == 0


def test_branches_that_do_not_depend_on_a_failure_go_on(project: Project, cloud: Cloud, engine_program: str) -> None:
    text = (project.root / "hybridwrap.yaml").read_text() + "  docs: {source: docs}\n"
    project.write(text, docs=FAKECLOUD + 'resource "fakecloud_network" "docs" { name = "docs" }\n')
    assert project.apply().code == 0
    cloud.inject("app", "delete-fails")

    assert destroy(project).code == 4

    assert project.statuses() == {"network": "ok", "vm": "ok", "app": "error", "docs": "destroyed"}


def test_a_failure_tells_what_kind_it_is(standing: Project, cloud: Cloud) -> None:
    cloud.inject("app", "delete-fails")
    assert "(not empty, or still in use)" in destroy(standing).text


def test_what_was_never_applied_is_left_out_without_any_engine(project: Project, cloud: Cloud) -> None:
    cloud.inject("web", "fail-before")
    assert project.apply().code == 4
    assert project.statuses() == {"network": "ok", "vm": "error", "app": "pending"}

    ran = destroy(project)

    assert ran.code == 0, ran.text
    assert project.statuses() == {"network": "destroyed", "vm": "destroyed", "app": "none"}
    assert not (project.root / ".hybridwrap/data/default/app").exists(), "not even initialised"
    assert cloud.objects() == []


def test_a_module_whose_first_apply_made_only_a_tainted_object_is_torn_down(project: Project, cloud: Cloud) -> None:
    cloud.inject("web", "partial")
    assert project.apply().code == 4
    cloud.lift()

    assert destroy(project).code == 0
    assert cloud.objects() == []


def test_a_stack_that_came_only_half_way_is_torn_down_whole(project: Project, cloud: Cloud) -> None:
    cloud.inject("db", "fail-before")
    assert project.apply().code == 4
    assert project.statuses() == {"network": "ok", "vm": "error", "app": "pending"}
    cloud.lift()

    ran = destroy(project)

    assert ran.code == 0, ran.text
    assert deleted(cloud) == ["web", "net"]
    assert cloud.objects() == []
    assert project.statuses() == {"network": "destroyed", "vm": "destroyed", "app": "none"}
    calls = len(cloud.calls())
    assert destroy(project).code == 0
    assert len(cloud.calls()) == calls, "there is nothing left to do"


def test_a_state_that_the_ledger_knows_nothing_of_is_found_and_said(
    standing: Project, cloud: Cloud, engine_program: str
) -> None:
    (standing.root / ".hybridwrap" / "ledger").rename(standing.root / "lost")

    ran = destroy(standing)

    assert ran.code == 0, ran.text
    assert "not in the ledger: adopting its state (2 objects)" in ran.text
    assert cloud.objects() == []
    assert set(standing.statuses().values()) == {"destroyed"}


def test_nobody_to_ask_is_wrong_usage_and_nothing_happens(standing: Project, cloud: Cloud) -> None:
    for argv in (("destroy",), ("destroy", "--json")):
        assert standing.run(*argv).code == 64
    assert deleted(cloud) == []


def test_an_unknown_module_is_wrong_usage(project: Project) -> None:
    assert destroy(project, "nope").code == 64


def test_a_state_that_is_gone_stops_before_anything_and_is_never_absence(standing: Project, cloud: Cloud) -> None:
    (standing.root / ".hybridwrap/state/default/app.tfstate").unlink()

    ran = destroy(standing, "app")

    assert ran.code == 32
    assert "stopped before anything" in ran.text
    assert deleted(cloud) == []
    assert standing.statuses()["app"] == "ok"


def test_a_destroy_makes_nothing_pending(standing: Project, cloud: Cloud) -> None:
    cloud.inject("app", "delete-fails")
    assert destroy(standing).code == 4
    assert "pending" not in standing.statuses().values()
    assert all("was" not in module for module in standing.status().values())


def test_a_destroyed_stack_can_be_applied_again_in_a_new_life(standing: Project, cloud: Cloud) -> None:
    before = standing.ledger().record("vm").incarnation
    assert destroy(standing).code == 0

    assert standing.apply().code == 0

    assert set(standing.statuses().values()) == {"ok"}
    assert standing.ledger().record("vm").incarnation != before


def test_json_tells_every_module_and_ends_with_the_result(standing: Project, cloud: Cloud) -> None:
    cloud.inject("web", "delete-fails")

    ran = destroy(standing, "--json")

    assert ran.code == 4
    assert ran.lines[-1]["type"] == "result"
    assert ran.lines[-1]["modules"] == {"app": "destroyed", "vm": "error", "network": "kept"}


# What the engine would not destroy, or somebody does not want destroyed


def test_what_is_protected_is_told_before_anything_starts(project: Project, cloud: Cloud) -> None:
    protected = VM.replace('name       = "db"', 'name       = "db"\n  lifecycle { prevent_destroy = true }')
    project.write((project.root / "hybridwrap.yaml").read_text(), vm=protected)
    assert project.apply().code == 0

    ran = destroy(project)

    assert ran.code == 10
    assert "vm is protected: fakecloud_server.db" in ran.text
    assert "--keep-protected" in ran.text
    assert deleted(cloud) == []
    assert not any(run.start.command == "destroy" for run in project.ledger().runs()), "no run was begun"


def test_all_that_a_protected_module_does_not_need_goes_on_request(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    chain(project, engine_program, vm="protected: true")
    assert project.apply().code == 0
    assert destroy(project).code == 10

    ran = destroy(project, "--keep-protected")

    assert ran.code == 4
    assert project.statuses() == {"network": "ok", "vm": "ok", "app": "destroyed"}
    assert deleted(cloud) == ["app"]
    assert project.status()["network"]["reason"] == "teardown waits for vm"
    assert project.outputs()["vm"]["id"]["provenance"] == "known"


def test_protection_that_only_the_engine_sees_keeps_the_module_untouched(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    nested = 'module "in" {\n  source     = "./in"\n  network_id = var.network_id\n}\n'
    project.write(
        (project.root / "hybridwrap.yaml").read_text(),
        vm='variable "network_id" { type = string }\n' + nested + 'output "ip" { value = "10.0.0.1" }\n',
    )
    (project.root / "vm/in").mkdir()
    inner = FAKECLOUD + 'variable "network_id" {}\nresource "fakecloud_server" "db" {\n  name = "db"\n'
    (project.root / "vm/in/main.tf").write_text(inner + "  lifecycle { prevent_destroy = true }\n}\n")
    assert project.apply().code == 0

    ran = destroy(project)

    assert ran.code == 4
    assert "protected by prevent_destroy: module.in.fakecloud_server.db" in ran.text
    assert project.statuses() == {"network": "ok", "vm": "ok", "app": "destroyed"}


def test_what_is_to_be_retained_is_kept_and_shown_apart(project: Project, cloud: Cloud, engine_program: str) -> None:
    chain(project, engine_program, vm="on_destroy: retain")
    assert project.apply().code == 0

    ran = destroy(project)

    assert ran.code == 0, ran.text
    assert project.statuses() == {"network": "destroyed", "vm": "retained", "app": "destroyed"}
    assert {thing.name for thing in cloud.objects()} == {"web", "db"}
    assert len(project.status()["vm"]["objects"]["known"]) == 2
    assert destroy(project).code == 0
    assert project.statuses()["vm"] == "retained"


def test_an_operator_retains_with_a_reason_and_adopts_back(standing: Project, cloud: Cloud) -> None:
    assert standing.run("retain", "vm").code == 64, "a reason is needed"

    ran = standing.run("retain", "vm", "--reason", "the auditors want it")

    assert ran.code == 0, ran.text
    assert "fakecloud_server.web" in ran.text
    assert standing.status()["vm"]["reason"] == "the auditors want it"
    assert standing.apply("vm").code == 10
    assert destroy(standing).code == 0
    assert standing.statuses() == {"network": "destroyed", "vm": "retained", "app": "destroyed"}

    assert standing.run("adopt", "vm").code == 0
    assert standing.statuses()["vm"] == "ok"
    assert destroy(standing).code == 0
    assert cloud.objects() == []


def test_nothing_can_be_retained_of_a_module_that_is_not_there(project: Project) -> None:
    ran = project.run("retain", "vm", "--reason", "x")
    assert ran.code == 10
    assert "there is nothing to retain" in ran.text


# Guards


def test_a_plan_beyond_its_guard_needs_a_word_with_the_number(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    chain(project, engine_program, vm="guard: {max_destroys: 1}")
    assert project.apply().code == 0

    ran = destroy(project)

    assert ran.code == 5
    assert "vm would destroy or replace 2 objects: guard.max_destroys is 1" in ran.text
    assert "--yes-destroy 2" in ran.text
    assert project.statuses() == {"network": "ok", "vm": "ok", "app": "destroyed"}
    assert destroy(project, "--yes-destroy", "1").code == 5
    assert destroy(project, "--yes-destroy", "2").code == 0


def test_an_apply_that_would_destroy_beyond_its_guard_stops_the_same_way(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    chain(project, engine_program, vm="guard: {max_destroys: 0}")
    assert project.apply().code == 0
    larger = VM.replace('name       = "web"', 'name       = "web"\n  size       = "large"')
    project.write((project.root / "hybridwrap.yaml").read_text(), vm=larger)

    ran = project.apply()

    assert ran.code == 5
    assert "vm would destroy or replace 1 object: guard.max_destroys is 0" in ran.text
    assert project.statuses()["vm"] != "error"
    assert deleted(cloud) == []
    assert project.apply("--yes-destroy", "1").code == 0
    assert deleted(cloud) == ["web"]


@pytest.mark.parametrize("command", ["apply", "destroy"])
def test_protected_types_need_a_person(project: Project, cloud: Cloud, engine_program: str, command: str) -> None:
    chain(project, engine_program, vm="guard: {protected_types: [fakecloud_server]}")
    assert project.apply().code == 0
    assert destroy(project, "app").code == 0
    larger = VM.replace('name       = "web"', 'name       = "web"\n  size       = "large"')
    project.write((project.root / "hybridwrap.yaml").read_text(), vm=larger)

    ran = project.run(command, "--auto-approve", "--yes-destroy", "99", "vm")

    assert ran.code == 5
    assert "guard.protected_types" in ran.text
    assert deleted(cloud) == ["app"]


# Looking first, and at a terminal


def test_a_plan_to_destroy_shows_its_order_and_records_nothing(standing: Project, cloud: Cloud) -> None:
    entries = {name: len(standing.ledger().history(name)) for name in standing.statuses()}

    ran = standing.run("plan", "--destroy")

    assert ran.code == 0, ran.text
    assert ran.out.index("app ") < ran.out.index("vm ") < ran.out.index("network ")
    assert "2 to destroy" in ran.out
    assert "will be destroyed" in ran.out
    assert deleted(cloud) == []
    assert {name: len(standing.ledger().history(name)) for name in entries} == entries
    assert standing.run("plan", "--destroy", "-target=x.y").code == 64
    assert standing.run("plan", "--destroy", "-detailed-exitcode").code == 2


def test_at_a_terminal_each_wave_is_asked_about_and_beyond_its_guard_by_name(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    chain(project, engine_program, vm="guard: {max_destroys: 1}")
    assert project.apply().code == 0
    with Terminal([sys.executable, "-m", "hybridwrap", "destroy"], cwd=project.root, env=project.env) as terminal:
        terminal.expect("Destroy app?")
        assert "fakecloud_server.app will be destroyed" in terminal.seen
        terminal.type("y")
        terminal.expect("Destroy vm?")
        terminal.type("y")
        terminal.expect("Type its name to go on")
        assert "vm would destroy or replace 2 objects" in terminal.seen
        terminal.type("vm")
        terminal.expect("Destroy network?")
        terminal.type("n")
        assert terminal.wait() == 130
    assert project.statuses() == {"network": "ok", "vm": "destroyed", "app": "destroyed"}


def test_a_wrong_name_is_a_no(project: Project, cloud: Cloud, engine_program: str) -> None:
    chain(project, engine_program, vm="guard: {max_destroys: 1}")
    assert project.apply().code == 0
    assert destroy(project, "app").code == 0
    with Terminal([sys.executable, "-m", "hybridwrap", "destroy", "vm"], cwd=project.root, env=project.env) as terminal:
        terminal.expect("Destroy vm?")
        terminal.type("y")
        terminal.expect("Type its name to go on")
        terminal.type("yes")
        assert terminal.wait() == 130
    assert deleted(cloud) == ["app"]
