"""`mv`: a module gets another name, keeps its record and its state, and is at no moment without either."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from hybridwrap.domain.entry import Adopt, Begin, End, Moved
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.status import Outcome, Status
from tests.support.prepared import Prepared
from tests.support.project import Project

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
engine: {program: ENGINE}
modules:
  net: {source: net}
  vm: {source: vm, inputs: {id: "{{ modules.net.id }}"}}
"""
NET = """
resource "terraform_data" "it" {
  provisioner "local-exec" { command = "echo made >> ../made.log" }
}
output "id" { value = terraform_data.it.id }
"""
VM = 'variable "id" { type = string }\nresource "terraform_data" "it" { input = var.id }\n'


@pytest.fixture
def project(tmp_path: Path, engine_program: str, prepared: Prepared) -> Project:
    manifest = STACK.replace("ENGINE", engine_program)
    return prepared.applied(Project(tmp_path), f"rename-{engine_program}", manifest, net=NET, vm=VM)


def rename_in_manifest(project: Project, *, keep_place: bool = True) -> None:
    manifest = project.root / "hybridwrap.yaml"
    place = ', state: {local: {path: ".hybridwrap/state/default/net.tfstate"}}' if keep_place else ""
    text = manifest.read_text().replace("net: {source: net}", f"network: {{source: net{place}}}")
    manifest.write_text(text.replace("modules.net.id", "modules.network.id"))


def ledger(project: Project) -> Ledger:
    found = project.ledger()
    found.open()
    return found


def made(project: Project) -> int:
    return len((project.root / "made.log").read_text().splitlines())


def sound(project: Project) -> None:
    assert project.call("ledger", "verify").code == 0


def test_the_record_goes_with_the_name_and_nothing_is_made_again(project: Project) -> None:
    before = project.ledger().record("net")
    rename_in_manifest(project)

    ran = project.run("mv", "net", "network", "--reason", "clearer")

    assert ran.code == 0, ran.text
    after = project.ledger().record("network")
    assert replace(after, module="net", seq=before.seq, tail=before.tail) == before
    old = project.ledger().record("net")
    assert (old.status, old.reason) == (Status.NONE, "moved to network: clearer")
    assert project.statuses() == {"network": "ok", "vm": "ok"}
    assert project.outputs()["network"]["id"]["provenance"] == "known"
    assert "2 unchanged" in project.apply().text
    assert made(project) == 1
    sound(project)
    assert project.call("orphans", "--json").json["orphans"] == []


def test_what_was_not_planned_before_needs_no_plan_after_a_rename(project: Project) -> None:
    rename_in_manifest(project)
    assert project.run("mv", "net", "network").code == 0
    ran = project.apply("--skip-unchanged", "--json", "network")
    assert not [line for line in ran.lines if line["type"] == "phase" and line["phase"] == "plan"], ran.text


def test_a_state_that_would_be_left_behind_stops_it_and_what_to_write_is_said(project: Project) -> None:
    rename_in_manifest(project, keep_place=False)
    entries = {name: len(project.ledger().history(name)) for name in ("net", "network")}

    ran = project.run("mv", "net", "network")

    assert ran.code == 10
    setting = 'state: {local: {path: ".hybridwrap/state/default/net.tfstate"}}'
    assert f"write into modules.network (hybridwrap.yaml:6): {setting}" in ran.text
    assert "hybridwrap mv net network" in ran.text
    assert {name: len(project.ledger().history(name)) for name in entries} == entries
    manifest = project.root / "hybridwrap.yaml"
    manifest.write_text(manifest.read_text().replace("network: {source: net}", f"network: {{source: net, {setting}}}"))
    assert project.run("mv", "net", "network").code == 0
    assert "2 unchanged" in project.apply().text
    assert made(project) == 1


def test_with_several_environments_the_place_is_for_the_one_that_it_is_about(tmp_path: Path) -> None:
    project = Project(tmp_path)
    stack = "version: 1\nstack: shop\nenvironments: {dev: MORE, prod: {}}\nmodules: {NAME: {source: net}}\n"
    project.write(stack.replace("MORE", "{}").replace("NAME", "net"), net='output "id" { value = 1 }')
    assert project.apply("-e", "dev").code == 0
    project.write(stack.replace("MORE", "{}").replace("NAME", "network"))
    ran = project.run("mv", "net", "network", "-e", "dev")
    setting = 'state: {local: {path: ".hybridwrap/state/dev/net.tfstate"}}'
    assert f"write into environments.dev.modules.network (hybridwrap.yaml:4): {setting}" in ran.text
    project.write(stack.replace("MORE", f"{{modules: {{network: {{{setting}}}}}}}").replace("NAME", "network"))
    assert project.run("mv", "net", "network", "-e", "dev").code == 0


def test_in_between_it_is_no_orphan_and_nobody_can_lose_it(project: Project) -> None:
    rename_in_manifest(project)
    standing = project.status()["net"]
    assert standing["status"] == "ok"
    assert standing["reason"] == "moved? network has its state now; next: hybridwrap mv net network"
    orphans = project.call("orphans", "--json")
    assert orphans.json["orphans"] == []
    assert "hybridwrap mv net network" in orphans.err
    for argv in (("apply", "--auto-approve"), ("adopt", "network"), ("destroy", "--auto-approve", "--orphan", "net")):
        ran = project.run(*argv)
        assert ran.code == 10, (argv, ran.text)
        assert "hybridwrap mv net network" in ran.text
    assert made(project) == 1
    assert project.run("mv", "net", "network").code == 0


def test_a_new_name_with_the_old_ones_source_and_another_place_makes_nothing_again_unasked(project: Project) -> None:
    rename_in_manifest(project, keep_place=False)
    assert project.status()["net"]["reason"] == "moved? network has its source; next: hybridwrap mv net network"
    assert project.call("orphans", "--json").json["orphans"] == []
    for argv in (("plan", "network"), ("apply", "--auto-approve", "network")):
        ran = project.run(*argv)
        assert ran.code == 10, (argv, ran.text)
        assert "hybridwrap mv net network" in ran.text
    assert made(project) == 1
    assert project.apply("--not-moved", "network").code == 0
    assert made(project) == 2
    assert project.status()["net"]["reason"].startswith("orphan")


def test_a_folder_that_was_renamed_with_its_module_is_known_by_its_content(project: Project) -> None:
    rename_in_manifest(project, keep_place=False)
    (project.root / "net").rename(project.root / "network")
    manifest = project.root / "hybridwrap.yaml"
    manifest.write_text(manifest.read_text().replace("source: net", "source: network"))
    assert project.apply("network").code == 10
    assert made(project) == 1


def test_a_rename_that_was_cut_short_is_finished_by_the_same_command(project: Project) -> None:
    rename_in_manifest(project)
    cut = ledger(project)
    old = cut.record("net")
    assert old.state
    kept = cut.adopt(
        cut.record("network"),
        Adopt("R", "renamed", old.state, old.outputs, old.objects, {"module": "net", "seq": old.seq, "hash": old.tail}),
    )
    assert project.statuses()["net"] == "ok", "the old name still has it"

    ran = project.run("mv", "net", "network")

    assert ran.code == 0, ran.text
    assert isinstance(project.ledger().history("net")[-1].body, Moved)
    assert project.ledger().record("network").seq == kept.seq, "the new name has it already"
    assert "net was renamed to network before" in project.run("mv", "net", "network").text
    sound(project)


def test_a_change_between_the_two_entries_is_taken_along_the_second_time(project: Project) -> None:
    rename_in_manifest(project)
    cut = ledger(project)
    old = cut.record("net")
    assert old.state
    origin = {"module": "net", "seq": old.seq, "hash": old.tail}
    cut.adopt(cut.record("network"), Adopt("R", "renamed", old.state, old.outputs, old.objects, origin))
    intent = project.ledger().history("net")[0].body
    assert isinstance(intent, Begin)
    held = cut.begin(old, replace(intent, run="R9", previous_status=Status.OK), operation="OP9")
    worse = End(Outcome.FAILED, Status.ERROR, old.state, old.outputs, old.objects, reason="it failed meanwhile")
    cut.end(held, worse, operation="OP9", entry_id="E9")

    assert project.run("mv", "net", "network").code == 0
    assert (project.statuses()["network"], project.ledger().record("network").reason) == (
        "error",
        "it failed meanwhile",
    )
    sound(project)


def test_a_new_name_that_took_the_state_over_by_itself_only_closes_the_old_one(project: Project) -> None:
    rename_in_manifest(project)
    cut = ledger(project)
    state = cut.record("net").state
    assert state
    cut.adopt(cut.record("network"), Adopt("R", "found by apply", state))
    assert project.status()["net"]["reason"].startswith("moved? network has its state now")
    assert project.run("mv", "net", "network").code == 0
    assert len(project.ledger().history("network")) == 1
    assert project.statuses() == {"network": "ok", "vm": "ok"}


def test_an_error_stays_an_error_with_all_that_is_known_of_it(project: Project) -> None:
    broken = NET.replace("echo made >> ../made.log", "exit 3").replace('"it"', '"two"').replace(".it.", ".two.")
    (project.root / "net" / "main.tf").write_text(broken)
    assert project.apply("net").code == 4
    before = project.ledger().record("net")
    rename_in_manifest(project)
    assert project.run("mv", "net", "network").code == 0
    after = project.ledger().record("network")
    assert (after.status, after.errors, after.failed_command, after.log) == (
        Status.ERROR,
        before.errors,
        before.failed_command,
        before.log,
    )
    assert "two" in project.call("why", "network").text


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (("vm", "net"), 64, "the manifest still has a module vm"),
        (("net", "nowhere"), 64, "has no module nowhere"),
        (("ghost", "vm"), 64, "the ledger has nothing of ghost that could be renamed"),
    ],
)
def test_what_is_no_rename_is_refused(project: Project, argv: tuple[str, ...], code: int, said: str) -> None:
    ran = project.run("mv", *argv)
    assert ran.code == code
    assert said in ran.text


def test_a_name_that_is_taken_is_refused(project: Project) -> None:
    manifest = project.root / "hybridwrap.yaml"
    text = manifest.read_text().replace("net: {source: net}", "network: {source: net}")
    manifest.write_text(text.replace("modules.net.id", "modules.network.id"))
    assert project.apply("--not-moved", "network").code == 0
    manifest.write_text(
        manifest.read_text().replace(
            "{source: net}", '{source: net, state: {local: {path: ".hybridwrap/state/default/net.tfstate"}}}'
        )
    )
    ran = project.run("mv", "net", "network")
    assert ran.code == 10
    assert "network has a record of its own" in ran.text


def test_what_is_unknown_has_to_be_cleared_up_under_its_old_name(project: Project) -> None:
    opened = ledger(project)
    record = opened.record("net")
    intent = project.ledger().history("net")[0].body
    assert isinstance(intent, Begin)
    held = opened.begin(record, replace(intent, previous_status=Status.OK), operation="OP9")
    opened.end(held, End(Outcome.UNKNOWN, Status.UNKNOWN, record.state), operation="OP9", entry_id="E9")
    rename_in_manifest(project)
    ran = project.run("mv", "net", "network")
    assert ran.code == 32
    assert "hybridwrap reconcile net" in ran.text


def test_another_checkout_that_still_has_the_old_name_cannot_take_it_back_unseen(project: Project) -> None:
    manifest = project.root / "hybridwrap.yaml"
    before = manifest.read_text()
    rename_in_manifest(project)
    assert project.run("mv", "net", "network").code == 0
    manifest.write_text(before)
    ran = project.apply()
    assert ran.code == 10
    assert "hybridwrap mv network net" in ran.text
    assert made(project) == 1
