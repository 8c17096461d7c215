"""What became of a module: looked at, judged, put right; with the real engines, killed where it hurts."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from hybridwrap.domain import json
from hybridwrap.domain.engine_run import Action, PlannedChange
from hybridwrap.domain.entry import Begin, End, EngineIdentity, Source
from hybridwrap.domain.record import Record
from hybridwrap.domain.status import Outcome, Status
from tests.support import s3_servers
from tests.support.engines import engines
from tests.support.fakecloud import SOURCE
from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.faults import Operation
from tests.support.golden import golden
from tests.support.hour_later import with_an_hour_to_pass
from tests.support.ledgers import LOCKS
from tests.support.lost_runner import kill_engines, ledger_of, lose_host, wait_until, write_stack
from tests.support.project import FAKECLOUD, Project, Ran, wait
from tests.support.s3_servers import Server

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
engine: {program: ENGINE}
modules:
  vm: {source: vm}
"""
ONE = (
    FAKECLOUD + 'resource "fakecloud_server" "web" { name = "web" }\noutput "ip" { value = fakecloud_server.web.ip }\n'
)
FIVE = (
    FAKECLOUD
    + """
resource "fakecloud_server" "web" {
  count = 3
  name  = "web-${count.index}"
  tags  = { team = "shop" }
}
resource "fakecloud_server" "slow" {
  name = "slow"
  tags = { after = fakecloud_server.web[2].id }
}
resource "fakecloud_server" "last" {
  name = "last"
  tags = { after = fakecloud_server.slow.id }
}
output "ips" { value = fakecloud_server.web[*].ip }
"""
)
SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "reconcile.v1.json").read_bytes())
_buckets = count()


@pytest.fixture
def project(tmp_path: Path, fakecloud_env: Mapping[str, str], engine_program: str) -> Project:
    return _project(tmp_path, fakecloud_env, STACK.replace("ENGINE", engine_program))


@pytest.fixture
def in_s3(moto: Server, tmp_path: Path, fakecloud_env: Mapping[str, str], engine_program: str) -> Project:
    """State in S3, ledger in a folder."""
    state = moto.state(moto.make_bucket(f"reconcile-{next(_buckets)}"))
    manifest = STACK.replace("ENGINE", engine_program) + state + "ledger: {folder: .hybridwrap/ledger}\n"
    return _project(tmp_path, {**fakecloud_env, **s3_servers.environment(), "HYBRIDWRAP_SETTLE": "1s"}, manifest)


def _project(folder: Path, environ: Mapping[str, str], manifest: str) -> Project:
    root = folder / "project"
    root.mkdir()
    project = Project(root, environ)
    project.write(manifest, vm=ONE)
    return project


def source(project: Project, text: str) -> None:
    project.write((project.root / "hybridwrap.yaml").read_text(), vm=text)


def killed(project: Project, cloud: Cloud, name: str = "slow", *, when: Callable[[], bool] = lambda: True) -> Ran:
    """An apply whose engine is killed while the cloud makes an object: that is there, and its id was never told."""
    cloud.inject(name, "hang")
    process = project.start("apply", "--auto-approve")
    cloud.wait_for_calls(Operation.CREATE, name=name)
    wait_until(when)
    kill_engines(project)
    ran = wait(process)
    cloud.lift(name)
    assert ran.code == 32, ran.text
    return ran


def reconciled(project: Project, *argv: str) -> dict[str, Any]:
    """What `reconcile --json` says of the one module."""
    ran = project.run("reconcile", "--json", *argv)
    assert ran.code == 0, ran.text
    Draft202012Validator(SCHEMA).validate(ran.json)
    (module,) = ran.json["modules"]
    return dict(module)


def typed(project: Project, module: Mapping[str, Any]) -> Ran:
    """Run the command that was named."""
    import shlex

    words = shlex.split(module["next"])[1:]
    return project.run(*words, *(["--auto-approve"] if words[0] == "apply" else []))


# --- An engine is killed


def test_three_of_five_were_made_and_each_is_recovered_without_a_second_one(in_s3: Project, cloud: Cloud) -> None:
    project = in_s3
    source(project, FIVE)
    killed(project, cloud)
    made = {thing.name: thing.id for thing in cloud.objects()}

    ran = project.run("reconcile")

    assert ran.code == 0
    assert golden(ran.out) == IN_FLIGHT
    blocks = next((project.root / ".hybridwrap" / "notes").glob("vm-*.tf")).read_text()
    assert blocks.count("import {") == 3
    for index in range(3):
        assert f'to = fakecloud_server.web[{index}]\n  id = "{made[f"web-{index}"]}"' in blocks

    assert project.run("reconcile", "vm", "--import").code == 0

    left = reconciled(project)
    assert golden("\n".join(left["evidence"])) == OPEN
    assert (left["status"], left["verdict"]) == ("unknown", "unknown")
    assert left["next"] == "hybridwrap reconcile vm --import --id fakecloud_server.slow=ID"
    assert typed(project, left).code == 64, "what a person has to find out is not made up"
    refused = project.apply()
    assert refused.code == 32
    assert f"next: {left['next']}" in refused.text

    assert project.run("reconcile", "vm", "--import", "--id", f"fakecloud_server.slow={made['slow']}").code == 0
    assert project.statuses() == {"vm": "error"}
    rest = reconciled(project)
    assert (rest["verdict"], rest["next"]) == ("partly_applied", "hybridwrap apply vm")
    assert typed(project, rest).code == 0
    assert project.statuses() == {"vm": "ok"}
    assert sorted(thing.name for thing in cloud.objects()) == ["last", "slow", "web-0", "web-1", "web-2"]
    assert {thing.name: thing.id for thing in cloud.objects()}.items() >= made.items()


IN_FLIGHT = """\
vm is unknown: partly applied
  apply OPERATION by ana@laptop, TIME: unknown: \
the engine was killed by signal 9: nobody knows how what it had begun has ended
  state: none at s3://states/shop/default/vm.tfstate
  state lock: left behind by this operation: lock LOCK of ana@laptop since TIME (apply), \
at s3://states/shop/default/vm.tfstate.tflock
  5 to create: 3 made and not saved, 1 begun, 1 not begun
  made, not in the state: fakecloud_server.web[0] (fakecloud_server), id srv-1, name web-0, tags team=shop
  made, not in the state: fakecloud_server.web[1] (fakecloud_server), id srv-1, name web-1, tags team=shop
  made, not in the state: fakecloud_server.web[2] (fakecloud_server), id srv-1, name web-2, tags team=shop
  begun, no answer: fakecloud_server.slow (fakecloud_server), name slow; look for it: if it is there, import it by its \
id; if it is not: hybridwrap reconcile vm --absent fakecloud_server.slow --reason 'how you know'
  import blocks: .hybridwrap/notes/vm-OPERATION.tf
  plan, as long as that is open: 5 to create
  next: hybridwrap reconcile vm --import
"""
OPEN = """\
import OPERATION by ana@laptop, TIME: unknown: imported 3 of 3 objects
state: serial N, 3 objects at s3://states/shop/default/vm.tfstate
begun, no answer: fakecloud_server.slow (fakecloud_server), name slow; look for it: if it is there, import it by its \
id; if it is not: hybridwrap reconcile vm --absent fakecloud_server.slow --reason 'how you know'
plan, as long as that is open: 2 to create"""


def test_what_an_operator_says_is_absent_is_made_again(project: Project, cloud: Cloud) -> None:
    source(project, FIVE)
    state = project.root / ".hybridwrap" / "state" / "default" / "vm.tfstate"
    killed(project, cloud, when=lambda: all(b'"web-%d"' % number in bytes_of(state) for number in range(3)))
    cloud.vanish(cloud.only("slow").id)

    ran = project.run("reconcile", "vm", "--absent", "fakecloud_server.slow", "--reason", "not in the console")

    assert ran.code == 0, ran.text
    assert project.statuses() == {"vm": "error"}, "what is certain after that is recorded"
    said = [line for entry in project.ledger().history("vm") for line in getattr(entry.body, "evidence", ())]
    assert any("says: fakecloud_server.slow does not exist (not in the console)" in line for line in said)
    assert project.apply().code == 0
    assert sorted(thing.name for thing in cloud.objects()) == ["last", "slow", "web-0", "web-1", "web-2"]


@pytest.mark.parametrize("reason", [(), ("--reason", "how you know"), ("--reason", " ")])
def test_a_word_without_a_reason_of_ones_own_is_refused(project: Project, reason: tuple[str, ...]) -> None:
    ran = project.run("reconcile", "vm", "--absent", "fakecloud_server.web", *reason)
    assert ran.code == 64
    assert "in your own words" in ran.err


def test_one_repair_comes_after_the_other_and_each_names_its_module(project: Project) -> None:
    assert project.run("reconcile", "vm", "--import", "--push-state").code == 64
    assert project.run("reconcile", "--import").code == 64
    assert project.run("reconcile", "vm", "--id", "a=b").code == 64
    assert project.run("reconcile", "nowhere").code == 64


def test_an_object_saved_before_its_provisioner_ended_needs_a_word(project: Project, cloud: Cloud) -> None:
    """The state holds it like any finished one: only the events know."""
    source(project, PROVISIONED)
    state = project.root / ".hybridwrap" / "state" / "default" / "vm.tfstate"
    process = project.start("apply", "--auto-approve")
    wait_until(lambda: all(each in bytes_of(state) for each in (b"srv-", b'"later"')))
    kill_engines(project)
    assert wait(process).code == 32
    (project.root / "vm" / "go").touch()

    seen = reconciled(project)

    assert (seen["verdict"], seen["next"]) == (
        "unknown",
        "hybridwrap reconcile vm --complete fakecloud_server.web --reason 'how you know'",
    )
    assert any("taint fakecloud_server.web" in line for line in seen["evidence"])
    assert project.apply().code == 32
    told = project.run("reconcile", "vm", "--complete", "fakecloud_server.web", "--reason", "the file is there")
    assert told.code == 0, told.text
    assert project.apply().code == 0
    assert len(cloud.calls(Operation.CREATE)) == 1


def bytes_of(file: Path) -> bytes:
    """What lies there; an engine that saves its state may have just taken the old file away."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


# Others come to their end while the provisioner of the first is at work: that is when the state is saved.
PROVISIONED = (
    FAKECLOUD
    + """
resource "fakecloud_server" "web" {
  name = "web"
  provisioner "local-exec" {
    command = "touch begun; while [ ! -e go ]; do sleep 0.05; done"
  }
}
resource "terraform_data" "witness" {
  provisioner "local-exec" {
    command = "while [ ! -e begun ]; do sleep 0.05; done"
  }
}
resource "terraform_data" "later" {
  depends_on = [terraform_data.witness]
}
output "ip" { value = fakecloud_server.web.ip }
"""
)


def test_an_object_that_is_gone_is_not_imported_and_that_is_said(in_s3: Project, cloud: Cloud) -> None:
    source(in_s3, FIVE)
    killed(in_s3, cloud)
    gone = cloud.only("web-1")
    cloud.vanish(gone.id)

    ran = in_s3.run("reconcile", "vm", "--import")

    assert ran.code == 4
    assert "imported 2 of 3 objects" in ran.text
    assert f"fakecloud_server.web[1]: not imported by id {gone.id}: Error: there is no server" in ran.text
    word = in_s3.run("reconcile", "vm", "--absent", "fakecloud_server.web[1]", "--reason", "the import says so")
    assert word.code == 0, word.text
    assert "begun, no answer: fakecloud_server.slow" in word.out


def test_a_state_that_arrives_late_is_waited_for_and_makes_no_false_orphans(
    in_s3: Project, cloud: Cloud, moto: Server
) -> None:
    """What a killed engine had sent may be stored seconds after its death."""
    source(in_s3, FIVE)
    killed(in_s3, cloud)
    over = in_s3.root / "over"
    process = with_an_hour_to_pass(in_s3, over).start("reconcile", "--json", HYBRIDWRAP_SETTLE="1h")
    assert process.stderr
    assert "waiting" in process.stderr.readline()
    (bucket,) = (b["Name"] for b in moto.client().list_buckets()["Buckets"] if _locked(moto, b["Name"]))
    moto.client().put_object(Bucket=bucket, Key="shop/default/vm.tfstate", Body=_state_of(cloud))
    over.touch()

    ran = wait(process)

    (seen,) = ran.json["modules"]
    assert seen["next"] == "hybridwrap reconcile vm --import --id fakecloud_server.slow=ID"
    assert not any(line.startswith("made, not in the state") for line in seen["evidence"])


def _locked(moto: Server, bucket: str) -> bool:
    listed = moto.client().list_objects_v2(Bucket=bucket).get("Contents", [])
    return [item["Key"] for item in listed] == ["shop/default/vm.tfstate.tflock"]


def _state_of(cloud: Cloud) -> bytes:
    """The state that an engine would save of the servers that the cloud has under `web`."""
    servers = [thing for thing in cloud.objects() if thing.name.startswith("web-")]
    instances = [
        {
            "index_key": number,
            "schema_version": 1,
            "attributes": {**thing.attributes, "id": thing.id, "name": thing.name},
        }
        for number, thing in enumerate(servers)
    ]
    resource = {"mode": "managed", "type": "fakecloud_server", "name": "web", "instances": instances}
    provider = {"provider": f'provider["{SOURCE}"]'}
    document = {"version": 4, "serial": 1, "lineage": "late", "outputs": {}, "resources": [{**resource, **provider}]}
    return json.canonical(document)


@pytest.mark.parametrize("sent", [True, False])
def test_what_a_lost_host_may_have_begun_is_listed_and_made_once(
    in_s3: Project, cloud: Cloud, moto: Server, monkeypatch: pytest.MonkeyPatch, sent: bool
) -> None:
    """`net` was made, `gate` was begun; `sent`: that had left the host before it was lost."""
    for name, value in in_s3.environ.items():
        monkeypatch.setenv(name, value)
    program = re.search(r"program: (\S+)}", (in_s3.root / "hybridwrap.yaml").read_text())
    assert program
    state = moto.state(moto.make_bucket(f"lost-{next(_buckets)}"))
    write_stack(in_s3, program[1], more=state)
    lose_host(in_s3, cloud, sent=sent)
    operation = ledger_of(in_s3).record("network").operation
    stopped = in_s3.run("unlock", "network", "--operation", operation, "--reason", "its runner is gone").text
    if "--state-lock " in stopped:
        lock = re.findall(r"--state-lock ([0-9a-f-]+)", stopped)[0]
        assert in_s3.run("unlock", "network", "--state-lock", lock).code == 0
        assert in_s3.run("sync").code == 0
    net = cloud.only("net").id

    seen = reconciled(in_s3, "network")

    begun = [line for line in seen["evidence"] if line.startswith("begun, no answer")]
    if sent:
        assert any(
            f"made, not in the state: fakecloud_network.net (fakecloud_network), id {net}" in line
            for line in seen["evidence"]
        )
        assert [line for line in begun if "fakecloud_server.gate" in line] == begun
        assert typed(in_s3, seen).code == 0
    else:
        assert len(begun) == 2
        cloud.vanish(net)
    cloud.vanish(cloud.only("gate").id)
    assert in_s3.apply("network").code == 32
    word = in_s3.run("reconcile", "network", "--absent-all", "--reason", "looked for both by name")
    assert word.code == 0, word.text
    assert in_s3.apply("network").code == 0
    assert sorted(thing.name for thing in cloud.objects()) == ["gate", "net"]


# --- What is certain


def test_what_began_nothing_is_what_it_was_before(project: Project, cloud: Cloud) -> None:
    assert project.apply().code == 0
    cut_short(project, "vm", before=Status.OK)

    seen = reconciled(project)

    assert golden("\n".join(seen["evidence"])) == NOT_BEGUN
    assert (seen["verdict"], seen["next"]) == ("applied", "hybridwrap apply vm")
    source(project, FIVE)
    assert reconciled(project)["verdict"] == "not_begun"
    assert project.run("reconcile", "--apply-verdicts").code == 0
    record = project.ledger().record("vm")
    assert (record.status, record.outputs["ip"].provenance) == ("ok", "known")


NOT_BEGUN = """\
apply OPERATION by ana@laptop, TIME: unknown: the engine was killed by signal 9
state: serial N, 1 object at .hybridwrap/state/default/vm.tfstate (local)
plan: nothing to do"""


def test_a_first_apply_that_began_nothing_leaves_no_status(project: Project, cloud: Cloud) -> None:
    assert project.run("plan").code == 0
    cut_short(project, "vm", before=Status.NONE)
    ran = project.run("reconcile")
    assert golden(ran.out) == FIRST_NOT_BEGUN
    assert project.run("reconcile", "--apply-verdicts").code == 0
    assert project.statuses() == {"vm": "none"}
    assert project.apply().code == 0
    assert project.ledger().verify("vm") == []


FIRST_NOT_BEGUN = """\
vm is unknown: not begun
  apply OPERATION by ana@laptop, TIME: unknown: the engine was killed by signal 9
  state: none at .hybridwrap/state/default/vm.tfstate (local)
  plan: 1 to create
  next: hybridwrap apply vm
"""


def test_apply_goes_on_where_nothing_was_begun(project: Project, cloud: Cloud) -> None:
    assert project.run("plan").code == 0
    cut_short(project, "vm", before=Status.NONE)

    ran = project.apply()

    assert ran.code == 0, ran.text
    assert "its outcome was unknown; now it is known" in ran.text
    assert len(cloud.objects()) == 1


def test_apply_goes_on_where_all_is_applied_and_was_not_recorded(project: Project, cloud: Cloud) -> None:
    assert project.apply().code == 0
    cut_short(project, "vm", before=Status.NONE, planned=(PlannedChange("fakecloud_server.web", Action.CREATE),))

    assert golden(project.run("reconcile").out) == APPLIED
    ran = project.apply()

    assert ran.code == 0, ran.text
    assert project.statuses() == {"vm": "ok"}
    assert project.outputs()["vm"]["ip"]["provenance"] == "known"
    assert len(cloud.calls(Operation.CREATE)) == 1


APPLIED = """\
vm is unknown: applied
  apply OPERATION by ana@laptop, TIME: unknown: the engine was killed by signal 9
  state: serial N, 1 object at .hybridwrap/state/default/vm.tfstate (local)
  plan: nothing to do
  next: hybridwrap apply vm
"""


def test_apply_stops_where_only_a_part_is_applied_until_that_is_recorded(project: Project, cloud: Cloud) -> None:
    assert project.apply().code == 0
    source(project, ONE + 'resource "fakecloud_server" "two" { name = "two" }\n')
    cut_short(project, "vm", before=Status.OK, untouched=False)
    ran = project.apply()
    assert (ran.code, "next: hybridwrap reconcile vm --apply-verdicts" in ran.text) == (32, True)

    seen = reconciled(project)
    assert (seen["verdict"], seen["next"]) == ("partly_applied", "hybridwrap reconcile vm --apply-verdicts")
    assert typed(project, seen).code == 0

    assert project.statuses() == {"vm": "error"}
    assert project.outputs()["vm"]["ip"]["provenance"] == "known", "the plan leaves it as it is"
    assert project.apply().code == 0


def cut_short(
    project: Project,
    name: str,
    *,
    before: Status,
    planned: tuple[PlannedChange, ...] = (),
    untouched: bool = True,
) -> Record:
    """Record an apply whose engine was killed before it touched anything, or whose log nobody has read."""
    ledger = project.ledger()
    ledger.open()
    record = ledger.record(name)
    mark = record.state or _no_state(project)
    operation = ledger.ids.new().replace("0", "1")
    intent = Begin(
        command="apply",
        run="R1",
        engine=EngineIdentity("terraform", "1"),
        source=Source("sha256:1"),
        state=mark,
        locks=LOCKS,
        planned=planned,
        previous_status=before,
        previous_outputs=record.outputs,
    )
    held = ledger.begin(record, intent, operation=operation)
    end = End(
        Outcome.UNKNOWN,
        Status.UNKNOWN,
        state=mark,
        outputs=record.outputs,
        objects=record.objects,
        reason="the engine was killed by signal 9",
        log="operations/1/events.jsonl" if untouched else "",
    )
    return ledger.end(held, end, operation=operation, entry_id=ledger.ids.new().replace("0", "2"))


def _no_state(project: Project) -> Any:
    from hybridwrap.domain.entry import StateMark
    from hybridwrap.domain.state import StatePlace

    return StateMark(StatePlace("local", ".hybridwrap/state/default/vm.tfstate"))


def test_a_provider_that_gave_no_object_back_is_asked_for_before_anything_is_made_again(
    project: Project, cloud: Cloud
) -> None:
    """It says that the object is not there; it is."""
    cloud.inject("web", "gone")
    assert project.apply().code in {4, 32}
    cloud.lift()

    again = project.apply()

    assert again.code == 32
    assert len(cloud.calls(Operation.CREATE)) == 1
    assert "next: hybridwrap reconcile vm" in again.text
    seen = reconciled(project)
    assert seen["next"] == "hybridwrap reconcile vm --import --id fakecloud_server.web=ID"
    made = cloud.only("web").id
    ran = project.run("reconcile", "vm", "--import", "--id", f"fakecloud_server.web={made}")
    assert ran.code == 0, ran.text
    assert project.apply().code == 0
    assert [thing.id for thing in cloud.objects()] == [made]


# --- It only looks


def test_looking_writes_nothing_and_takes_no_lock(project: Project, cloud: Cloud) -> None:
    source(project, FIVE)
    killed(project, cloud)
    entries = project.ledger().history("vm")
    state = project.root / ".hybridwrap" / "state" / "default" / "vm.tfstate"
    before = state.read_bytes() if state.exists() else None

    for argv in ((), ("vm",), ("--json",)):
        assert project.run("reconcile", *argv).code == 0

    assert project.ledger().history("vm") == entries
    assert (state.read_bytes() if state.exists() else None) == before
    assert project.call("history", "--json").out.count('"command":"reconcile"') == 0


def test_before_anything_was_run_nothing_is_to_reconcile(project: Project) -> None:
    ran = project.run("reconcile")
    assert (ran.code, ran.out) == (0, "every module is as the ledger says\n")
    assert not (project.root / ".hybridwrap" / "ledger").exists()
    assert reconciled(project, "vm")["verdict"] == "not_begun"


def test_a_module_that_was_changed_outside_is_said_and_a_clean_one_is_not(project: Project, cloud: Cloud) -> None:
    assert project.apply().code == 0
    assert project.run("reconcile", "--json").json["modules"] == []
    assert reconciled(project, "vm")["next"] == "hybridwrap plan vm"
    ran = project.run("tf", "vm", "--", "state", "list")
    assert ran.code == 0
    raw(project, "taint", "fakecloud_server.web")

    seen = reconciled(project)

    assert any("changed outside (serial" in line for line in seen["evidence"])
    assert (seen["status"], seen["verdict"], seen["next"]) == ("ok", "applied", "hybridwrap apply vm")


def raw(project: Project, *argv: str) -> None:
    """What a person types past hybridwrap, in the module's folder and with its data."""
    program = next(engine for engine in engines().values() if engine)
    (data,) = (project.root / ".hybridwrap" / "data" / "default" / "vm").iterdir()
    program.must(project.root / "vm", *argv, env={**project.environ, "TF_DATA_DIR": str(data)})


def test_a_state_of_another_lineage_is_answered_with_what_to_check(project: Project, cloud: Cloud) -> None:
    assert project.apply().code == 0
    state = project.root / ".hybridwrap" / "state" / "default" / "vm.tfstate"
    state.unlink()
    seen = reconciled(project)
    accept = "hybridwrap reconcile vm --accept-state --reason 'how you know'"
    assert (seen["verdict"], seen["next"]) == ("unknown", accept)
    assert any("wrong account" in line for line in seen["evidence"])
    assert any("to have the recorded one again" in line for line in seen["evidence"])
    assert typed(project, seen).code == 64, "the reason that is printed is none"
    assert len(cloud.objects()) == 1


@pytest.mark.parametrize("declared", [True, False])
def test_ledger_and_state_are_looked_at_without_any_code(project: Project, cloud: Cloud, declared: bool) -> None:
    cloud.inject("web", "partial")
    assert project.apply().code == 4
    shutil.rmtree(project.root / "vm")
    if not declared:
        manifest = (project.root / "hybridwrap.yaml").read_text().replace("modules:\n  vm: {source: vm}", "modules: {}")
        project.write(manifest)

    seen = reconciled(project)

    assert (seen["status"], seen["verdict"]) == ("error", "partly_applied")
    assert any("1 object at .hybridwrap/state/default/vm.tfstate" in line for line in seen["evidence"])
    assert any(line.startswith("no plan: its folder") for line in seen["evidence"])


def test_a_module_that_waits_for_another_is_planned_with_its_recorded_inputs(project: Project, cloud: Cloud) -> None:
    manifest = STACK.replace(
        "vm: {source: vm}", "net: {source: net}\n  vm: {source: vm, inputs: {n: '{{ modules.net.n }}'}}"
    )
    program = re.search(r"program: (\S+)}", (project.root / "hybridwrap.yaml").read_text())
    assert program
    two = 'variable "n" { type = string }\n' + ONE.replace('name = "web"', 'name = "web-${var.n}"')
    net = 'variable "fail" { default = false }\nresource "terraform_data" "n" { input = "a" }\n' + (
        'output "n" { value = terraform_data.n.output }\n'
    )
    project.write(manifest.replace("ENGINE", program[1]), net=net, vm=two)
    cloud.inject("web*", "partial")
    assert project.apply().code == 4
    cloud.lift()
    ledger = project.ledger()
    record = ledger.record("net")
    cut_short(project, "net", before=Status.OK, untouched=False)
    assert record.status is Status.OK

    seen = next(m for m in project.run("reconcile", "vm", "--json").json["modules"] if m["module"] == "vm")

    assert any(line.startswith("plan: 1 to replace") for line in seen["evidence"]), seen
