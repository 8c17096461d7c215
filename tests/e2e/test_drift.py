"""Drift: found, named by attribute, recorded once, accepted for a time; and never a change to anything real."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from hybridwrap.adapters.schemas import load_schema
from hybridwrap.domain.drift import Drift, DriftResult
from hybridwrap.domain.drift_checks import last_checked
from hybridwrap.domain.engine_run import Action
from tests.support import s3_servers
from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.faults import Operation
from tests.support.ledgers import begin, state
from tests.support.prepared import Prepared
from tests.support.project import FAKECLOUD, Project
from tests.support.s3_servers import Fault, Server

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
engine: {program: ENGINE}
modules:
  network: {source: network}
  vm: {source: vm, inputs: {network_id: "{{ modules.network.id }}", password: {from_env: PASSWORD}}}
  health: {source: health, inputs: {address: "{{ modules.vm.ip }}"}}
"""
NETWORK = (
    FAKECLOUD
    + """
resource "fakecloud_network" "net" { name = "net" }
output "id" { value = fakecloud_network.net.id }
"""
)
VM = (
    FAKECLOUD
    + """
variable "network_id" { type = string }
variable "password" {
  type      = string
  sensitive = true
}
resource "fakecloud_server" "web" {
  name = "web"
  tags = { team = "shop", network = var.network_id, user = nonsensitive(var.password) }
}
output "ip" { value = fakecloud_server.web.ip }
"""
)
HEALTH = 'variable "address" { type = string }\nresource "terraform_data" "check" { input = var.address }\n'
SECRET = "hunter2-hunter2"
NEXT_YEAR = f"{datetime.now(UTC) + timedelta(days=300):%Y-%m-%d}"


@pytest.fixture
def project(
    tmp_path: Path, fakecloud_env: Mapping[str, str], engine_program: str, prepared: Prepared, cloud: Cloud
) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, {**fakecloud_env, "PASSWORD": SECRET})
    manifest, name = STACK.replace("ENGINE", engine_program), f"drift-{engine_program}"
    return prepared.applied(project, name, manifest, cloud=cloud, network=NETWORK, vm=VM, health=HEALTH)


def retag(cloud: Cloud, **tags: str) -> None:
    web = cloud.only("web")
    cloud.change(web.id, {"tags": {**web.attributes["tags"], **tags}})  # type: ignore[dict-item]


def drift_of(project: Project, module: str = "vm") -> Drift | None:
    return project.ledger().record(module).drift


def entries(project: Project) -> dict[str, int]:
    return {name: len(project.ledger().history(name)) for name in ("network", "vm", "health")}


def told(ran: Any, module: str) -> dict[str, Any]:
    """The drift event of a module."""
    (event,) = [line for line in ran.lines if line["type"] == "drift" and line["module"] == module]
    found: dict[str, Any] = event
    return found


def test_where_nothing_differs_nothing_is_written_but_the_run(project: Project, cloud: Cloud) -> None:
    before = entries(project)
    ran = project.run("drift", "--detailed-exitcode")
    assert ran.code == 0, ran.text
    assert "3 unchanged" in ran.out
    assert entries(project) == before
    record, runs = project.ledger().record("vm"), project.ledger().runs()
    assert record.drift is None
    assert last_checked(record, runs) >= record.since
    assert runs[0].start.command == "drift"
    assert project.status()["vm"]["drift"] == {
        "result": "none",
        "checked": last_checked(record, runs),
        "since": None,
        "new": [],
    }


def test_what_differs_is_named_by_attribute_recorded_once_and_nothing_real_is_changed(
    project: Project, cloud: Cloud
) -> None:
    retag(cloud, team="ops")
    cloud.vanish(cloud.only("net").id)
    before = entries(project)
    changes = [call for call in cloud.calls() if call.operation is not Operation.READ]
    states = {file: file.read_bytes() for file in project.root.glob(".hybridwrap/state/**/*.tfstate")}

    ran = project.run("drift", "--detailed-exitcode")

    assert ran.code == 2, ran.text
    assert 'tags.team: "shop" -> "ops"' in ran.out
    assert "fakecloud_network.net  gone" in ran.out
    drift = drift_of(project)
    assert drift is not None
    (difference,) = drift.differences
    assert (difference.address, difference.attributes) == ("fakecloud_server.web", ("tags.team",))
    gone = drift_of(project, "network")
    assert gone is not None
    assert [(d.address, d.action) for d in gone.differences] == [("fakecloud_network.net", Action.DELETE)]
    assert entries(project) == {**before, "vm": before["vm"] + 1, "network": before["network"] + 1}
    assert [call for call in cloud.calls() if call.operation is not Operation.READ] == changes
    assert states
    assert {file: file.read_bytes() for file in states} == states

    again = project.run("drift")
    assert again.code == 0, "found, and not asked to say so by its exit code"
    assert entries(project)["vm"] == before["vm"] + 1, "no news, no entry"
    assert drift_of(project) == drift
    record = project.ledger().record("vm")
    assert last_checked(record, project.ledger().runs()) > drift.checked


def test_drift_has_a_since_and_ends_with_what_it_was(project: Project, cloud: Cloud) -> None:
    retag(cloud, team="ops")
    assert project.run("drift").code == 0
    first = drift_of(project)
    retag(cloud, team="ops", extra="1")
    assert project.run("drift").code == 0
    second = drift_of(project)
    assert first is not None
    assert second is not None
    assert second.differences[0].attributes == ("tags.extra", "tags.team")
    assert second.differences[0].since == first.differences[0].since < second.checked

    web = cloud.only("web")
    kept = {k: v for k, v in web.attributes["tags"].items() if k != "extra"}  # type: ignore[union-attr]
    cloud.change(web.id, {"tags": {**kept, "team": "shop"}})
    assert project.run("drift", "--detailed-exitcode").code == 0
    third = drift_of(project)
    assert third is not None
    assert third.result("2026-01-01") is DriftResult.NONE


def test_an_apply_that_puts_it_right_leaves_no_drift_behind(project: Project, cloud: Cloud) -> None:
    retag(cloud, team="ops")
    assert project.run("drift", "--detailed-exitcode").code == 2
    assert project.status()["vm"]["drift"]["new"] == ["fakecloud_server.web"]
    assert project.apply("vm").code == 0
    assert drift_of(project) is None
    assert project.status()["vm"]["drift"] is None, "nobody has looked since"
    assert project.run("drift", "--detailed-exitcode").code == 0


def test_accepted_drift_does_not_count_until_its_day_has_passed(project: Project, cloud: Cloud) -> None:
    retag(cloud, team="ops")
    assert project.run("drift", "--detailed-exitcode").code == 2
    target = "fakecloud_server.web.tags.team"
    ran = project.run("drift", "accept", target, "--until", NEXT_YEAR, "--reason", "the autoscaler tags")
    assert ran.code == 0, ran.text
    accepted = project.run("drift", "--detailed-exitcode")
    assert accepted.code == 0
    assert "vm" in accepted.out
    assert "1 accepted" in accepted.out
    assert "the autoscaler tags" in accepted.out

    retag(cloud, owner="nobody")
    assert project.run("drift", "--detailed-exitcode").code == 2, "another attribute is news"
    drift = drift_of(project)
    assert drift is not None
    assert [d.attributes for d in drift.new("2026-01-01")] == [("tags.owner",)]
    assert drift.new("9999-01-01")[0].attributes == ("tags.owner", "tags.team")

    assert project.run("drift", "accept", target, "--withdraw", "--reason", "the fair is over").code == 0
    drift = drift_of(project)
    assert drift is not None
    assert [d.attributes for d in drift.new("2026-01-01")] == [("tags.owner", "tags.team")], "it counts again at once"
    again = project.run("drift", "accept", target, "--withdraw", "--reason", "x")
    assert (again.code, f"nothing was accepted at {target}; accepted are: none" in again.err) == (64, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["fakecloud_server.wbe"],
            "no drift is recorded at fakecloud_server.wbe; there is vm: fakecloud_server.web.tags.team",
        ),
        (["fakecloud_server.web", "--module", "network"], "no drift is recorded"),
        (["fakecloud_server.web", "--until", "2020-01-01"], "2020-01-01 is over"),
        (["fakecloud_server.web", "--until", "someday"], "someday"),
        (["fakecloud_server.web", "--withdraw"], "say --until DATE to accept it, or --withdraw"),
    ],
)
def test_only_what_was_found_can_be_accepted_and_only_for_a_time_to_come(
    project: Project, cloud: Cloud, words: list[str], message: str
) -> None:
    retag(cloud, team="ops")
    assert project.run("drift").code == 0
    before = entries(project)
    ran = project.run("drift", "accept", "--until", NEXT_YEAR, "--reason", "x", *words)
    assert ran.code == 64
    assert message in ran.err
    assert entries(project) == before


def test_a_module_that_cannot_be_looked_at_is_not_checked_and_the_others_are(project: Project, cloud: Cloud) -> None:
    retag(cloud, team="ops")
    assert project.run("drift").code == 0
    before = drift_of(project)
    cloud.inject("web", "read-fails")
    ran = project.run("drift", "--detailed-exitcode", "--json")
    assert ran.code == 4
    assert ran.lines[-1]["modules"] == {"network": "unchanged", "vm": "error", "health": "unchanged"}
    assert drift_of(project) == before, "what was known before still is"


def test_what_a_run_left_pending_is_so_after_a_look(project: Project, cloud: Cloud) -> None:
    cloud.inject("net*", "read-fails")
    assert project.apply().code == 4
    pending = {name for name, status in project.statuses().items() if status == "pending"}
    assert pending == {"vm", "health"} or "network" in pending
    cloud.lift()
    retag(cloud, team="ops")
    assert project.run("drift", "--detailed-exitcode").code == 2
    assert {name for name, status in project.statuses().items() if status == "pending"} == pending
    assert set(project.call("show", "--json").json["carried"]) == pending


def test_json_has_values_but_for_secrets_and_fits_its_schema(project: Project, cloud: Cloud) -> None:
    web = cloud.only("web")
    retag(cloud, team="ops", user="other")
    cloud.change(web.id, {"admin_password": "leaked-by-hand"})
    ran = project.run("drift", "--json")
    validator = Draft202012Validator(load_schema("events.v1"))
    for line in ran.lines:
        validator.validate(line)
    event = told(ran, "vm")
    assert event["result"] == "new"
    (thing,) = event["objects"]
    assert {a["path"]: (a.get("before"), a.get("after")) for a in thing["attributes"]} == {
        "admin_password": (None, None),
        "tags.team": ("shop", "ops"),
        "tags.user": (None, None),
    }
    assert told(ran, "network")["result"] == "none"
    text = project.run("drift").text
    recorded = b"".join(f.read_bytes() for f in project.root.glob(".hybridwrap/ledger/**/*") if f.is_file()).decode()
    for secret in (SECRET, "leaked-by-hand"):
        assert secret not in ran.text + text + recorded
    assert "ops" not in recorded, "the ledger keeps names of attributes, not their values"


def test_read_only_writes_nothing_at_all(project: Project, cloud: Cloud) -> None:
    retag(cloud, team="ops")
    ledger = project.root / ".hybridwrap" / "ledger"
    before = {file: file.read_bytes() for file in ledger.rglob("*") if file.is_file()}
    ran = project.run("drift", "--read-only", "--detailed-exitcode")
    assert ran.code == 2
    assert {file: file.read_bytes() for file in ledger.rglob("*") if file.is_file()} == before


def test_inputs_that_changed_since_do_not_lead_the_look_astray(project: Project, cloud: Cloud) -> None:
    manifest = (project.root / "hybridwrap.yaml").read_text()
    project.write(
        manifest.replace("{{ modules.network.id }}", "another-network"), vm=VM + 'output "new" { value = 1 }\n'
    )
    ran = project.run("drift", "--detailed-exitcode")
    assert ran.code == 0, ran.text


def test_before_anything_was_applied_there_is_nothing_that_could_drift(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write(
        "version: 1\nstack: shop\nmodules: {docs: {source: docs}}\n", docs='resource "terraform_data" "d" {}\n'
    )
    ran = project.run("drift", "--detailed-exitcode")
    assert ran.code == 0, ran.text
    assert "1 empty" in ran.out
    assert not (tmp_path / ".hybridwrap" / "ledger").exists()


def test_a_module_that_somebody_holds_was_not_checked(project: Project, cloud: Cloud) -> None:
    retag(cloud, team="ops")
    ledger = project.ledger()
    ledger.open()
    ledger.begin(ledger.record("vm"), replace(begin(), state=ledger.record("vm").state or state(1)), operation="O9")
    ran = project.run("drift", "--json")
    assert ran.code == 20
    assert ran.lines[-1]["modules"]["vm"] == "busy"
    assert [line["module"] for line in ran.lines if line["type"] == "drift"] != []
    assert all(line["module"] != "vm" for line in ran.lines if line["type"] == "drift")


BUMP = """
import json, sys
file = sys.argv[1]
with open(file) as old:
    tree = json.load(old)
tree["serial"] += 1
with open(file, "w") as new:
    json.dump(tree, new)
"""


def test_what_differs_while_somebody_changes_the_state_is_not_called_drift(project: Project, cloud: Cloud) -> None:
    retag(cloud, team="ops")
    file = project.root / ".hybridwrap" / "state" / "default" / "vm.tfstate"
    cloud.observe([sys.executable, "-c", BUMP, str(file)], operation=Operation.READ, pattern="web")
    ran = project.run("drift", "vm")
    assert ran.code == 20, ran.text
    assert "changed while it was looked at" in ran.out
    assert drift_of(project) is None


def test_a_state_that_was_changed_outside_before_the_look_is_looked_at(project: Project, cloud: Cloud) -> None:
    retag(cloud, team="ops")
    file = project.root / ".hybridwrap" / "state" / "default" / "vm.tfstate"
    tree = json.loads(file.read_text())
    file.write_text(json.dumps({**tree, "serial": tree["serial"] + 5}))
    ran = project.run("drift", "vm", "--detailed-exitcode")
    assert ran.code == 2, ran.text
    assert "changed outside" in ran.text


def on_s3(server: Server, root: Path, environ: Mapping[str, str], engine: str) -> tuple[Project, str]:
    bucket = server.make_bucket(f"drift-{root.parent.name.replace('_', '-').lower()[-40:]}")
    root.mkdir()
    manifest = STACK.replace("ENGINE", engine) + server.state(bucket)
    project = Project(root, {**environ, **s3_servers.environment(), "PASSWORD": SECRET})
    project.write(manifest, network=NETWORK, vm=VM, health=HEALTH)
    assert project.apply().code == 0
    return project, bucket


def test_on_s3_a_held_lock_and_a_ledger_that_takes_nothing_are_said(
    moto: Server, tmp_path: Path, fakecloud_env: Mapping[str, str], cloud: Cloud, engine_program: str
) -> None:
    project, bucket = on_s3(moto, tmp_path / "project", fakecloud_env, engine_program)
    retag(cloud, team="ops")
    lock = {"ID": "1", "Operation": "OperationTypeApply", "Who": "bob@desk", "Created": "2026-01-01T00:00:00Z"}
    client = moto.client()
    client.put_object(Bucket=bucket, Key="shop/default/vm.tfstate.tflock", Body=json.dumps(lock).encode())
    held = project.run("drift", "vm")
    assert held.code == 20, held.text
    assert "bob@desk" in held.out
    client.delete_object(Bucket=bucket, Key="shop/default/vm.tfstate.tflock")

    assert moto.app
    moto.app.faults.append(Fault("PUT", f"{bucket}.*/log/vm/", 403, "AccessDenied"))
    ran = project.run("drift", "vm", "--detailed-exitcode")
    moto.app.faults.clear()
    assert ran.code == 30, ran.text
    assert 'tags.team: "shop" -> "ops"' in ran.out, "what was found is told all the same"
    assert "not recorded" in ran.out

    moto.app.requests.clear()
    assert project.run("drift", "vm", "--detailed-exitcode").code == 2
    writes = [path for method, path in moto.app.requests if method in {"PUT", "DELETE"}]
    assert all("/hybridwrap/" in path for path in writes), "no lock is taken on the state, and nothing of it written"
