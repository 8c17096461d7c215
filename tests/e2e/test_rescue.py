"""A state that the engine could not save: where it is kept, when it goes back, what it blocks."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from hybridwrap.adapters.state_file import parse_state
from hybridwrap.domain.state import EngineState
from tests.support import s3_servers
from tests.support.engines import engines
from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.faults import Operation
from tests.support.golden import golden
from tests.support.project import FAKECLOUD, Project
from tests.support.s3_servers import Fault, Server

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
engine: {{program: {engine}}}
{state}
ledger: {{folder: .hybridwrap/ledger{encryption}}}
modules:
  vm: {{source: vm}}
"""
VM = (
    FAKECLOUD
    + """
resource "fakecloud_server" "web" {
  count = 2
  name  = "web-${count.index}"
}
output "ips" { value = fakecloud_server.web[*].ip }
"""
)
STATE = "shop/default/vm.tfstate"
_buckets = count()


class Stack:
    """One module with its state on moto, whose answers can be made to go wrong."""

    def __init__(self, server: Server, project: Project, bucket: str) -> None:
        self.server, self.project, self.bucket = server, project, bucket

    def refuse(self, method: str = "PUT", **fault: Any) -> None:
        assert self.server.app
        self.server.app.faults.append(
            Fault(method, r"vm\.tfstate$", **{"status": 403, "code": "AccessDenied", **fault})
        )

    def heal(self) -> None:
        assert self.server.app
        self.server.app.faults.clear()

    @property
    def key(self) -> str:
        (key,) = [item["Key"] for item in self._listed() if item["Key"].endswith("vm.tfstate")]
        return str(key)

    @property
    def state(self) -> EngineState | None:
        if not any(item["Key"].endswith("vm.tfstate") for item in self._listed()):
            return None
        return parse_state(self.server.client().get_object(Bucket=self.bucket, Key=self.key)["Body"].read())

    def _listed(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.server.client().list_objects_v2(Bucket=self.bucket).get("Contents", [])
        return found

    @property
    def left_in_module(self) -> Path:
        return self.project.root / "vm" / "errored.tfstate"

    def copies(self) -> list[Path]:
        """Every file below the project that holds the password of a server."""
        files = [file for file in self.project.root.rglob("*") if file.is_file()]
        return [file for file in files if b"pw-srv-" in file.read_bytes()]

    def with_two_more(self) -> None:
        text = (self.project.root / "vm" / "main.tf").read_text()
        (self.project.root / "vm" / "main.tf").write_text(text.replace("count = 2", "count = 4"))

    def raw(self, *argv: str) -> None:
        """What a person types past hybridwrap, in the module's folder and with its data."""
        program = next(engine for engine in engines().values() if engine)
        (data,) = (self.project.root / ".hybridwrap" / "data" / "default" / "vm").iterdir()
        program.must(self.project.root / "vm", *argv, env={**self.project.environ, "TF_DATA_DIR": str(data)})

    def reconciled(self) -> dict[str, Any]:
        ran = self.project.run("reconcile", "vm", "--json")
        assert ran.code == 0, ran.text
        (module,) = ran.json["modules"]
        return dict(module)


@pytest.fixture
def stack(
    moto: Server, tmp_path: Path, fakecloud_env: Mapping[str, str], engine_program: str, request: pytest.FixtureRequest
) -> Iterator[Stack]:
    assert moto.app
    bucket = moto.make_bucket(f"rescue-{next(_buckets)}")
    root = tmp_path / "project"
    root.mkdir()
    encryption = getattr(request, "param", "")
    key = base64.b64encode(b"k" * 32).decode()
    project = Project(root, {**fakecloud_env, **s3_servers.environment(), "LEDGER_KEY": key})
    manifest = STACK.format(state=moto.state(bucket), engine=engine_program, encryption=encryption)
    project.write(manifest, vm=VM)
    yield Stack(moto, project, bucket)
    moto.app.faults.clear()


ENCRYPTED = ", encryption: {key_from_env: LEDGER_KEY}"


def private(files: list[Path]) -> bool:
    return all(file.stat().st_mode & 0o077 == 0 for file in files)


def test_a_state_that_could_not_be_saved_once_is_put_back_at_once_and_nothing_is_left_lying(
    stack: Stack, cloud: Cloud
) -> None:
    stack.refuse(times=1)

    ran = stack.project.apply()

    assert ran.code == 0, ran.text
    assert "was put back in its place" in ran.text
    assert stack.state
    assert [i.address for i in stack.state.instances] == ["fakecloud_server.web[0]", "fakecloud_server.web[1]"]
    record = stack.project.ledger().record("vm")
    assert record.state
    assert (record.status, record.state.lineage, record.state.serial) == ("ok", stack.state.lineage, stack.state.serial)
    assert record.kept is None
    assert not stack.left_in_module.exists()
    assert stack.copies() == []
    assert stack.project.apply().code == 0
    assert len(cloud.calls(Operation.CREATE)) == 2


def test_the_outcome_is_judged_by_the_events_once_the_state_is_back(stack: Stack, cloud: Cloud) -> None:
    assert stack.project.apply().code == 0
    before = stack.state
    stack.with_two_more()
    cloud.inject("web-3", "fail-before")
    stack.refuse(times=1)

    assert stack.project.apply().code == 4

    assert before
    assert stack.state
    assert (stack.state.lineage, len(stack.state.instances)) == (before.lineage, 3)
    record = stack.project.ledger().record("vm")
    assert (record.status, record.errors[0].address) == ("error", "fakecloud_server.web[3]")
    assert stack.copies() == []


@pytest.mark.parametrize("first", [True, False])
def test_until_it_is_back_every_apply_is_stopped_and_one_command_puts_it_back(
    stack: Stack, cloud: Cloud, first: bool
) -> None:
    if not first:
        assert stack.project.apply().code == 0
        stack.with_two_more()
    stack.refuse()

    ran = stack.project.apply()

    assert ran.code == 32
    assert "pw-srv-" not in ran.text
    record = stack.project.ledger().record("vm")
    assert record.kept
    assert record.kept.path in map(str, stack.copies())
    assert private(stack.copies())
    count = 2 if first else 4
    for _ in range(2):
        refused = stack.project.apply()
        assert refused.code == 32
        assert "next: hybridwrap reconcile vm --push-state" in refused.text
    assert len(cloud.calls(Operation.CREATE)) == count

    stack.heal()
    seen = stack.reconciled()
    assert (seen["verdict"], seen["next"]) == ("partly_applied", "hybridwrap reconcile vm --push-state")
    assert any("a state that could not be saved: serial" in line for line in seen["evidence"])
    pushed = stack.project.run("reconcile", "vm", "--push-state")

    assert pushed.code == 0, pushed.text
    assert stack.project.statuses() == {"vm": "ok"}, "the plan is empty: that is recorded, too"
    assert stack.copies() == []
    assert stack.project.outputs()["vm"]["ips"]["provenance"] == "known"
    assert stack.project.apply().code == 0
    assert len(cloud.calls(Operation.CREATE)) == count
    assert stack.project.ledger().verify("vm") == []


def test_a_push_that_is_refused_keeps_the_state_where_it_is_found_again(stack: Stack) -> None:
    stack.refuse()
    assert stack.project.apply().code == 32

    assert stack.project.run("reconcile", "vm", "--push-state").code == 4

    record = stack.project.ledger().record("vm")
    assert record.kept
    assert Path(record.kept.path).exists()
    assert private(stack.copies())
    stack.heal()
    assert stack.project.run("reconcile", "vm", "--push-state").code == 0
    assert stack.project.statuses() == {"vm": "ok"}
    assert stack.copies() == []


def test_a_state_that_was_forked_is_never_forced_and_both_are_kept(stack: Stack, cloud: Cloud) -> None:
    """Somebody applies by hand on top: the same objects are made a second time, in a state of another lineage."""
    stack.refuse()
    assert stack.project.apply().code == 32
    stack.heal()
    mine = {thing.id for thing in cloud.objects()}
    left = stack.left_in_module.read_bytes()
    stack.raw("apply", "-auto-approve", "-input=false")
    theirs = stack.state

    seen = stack.reconciled()

    assert golden("\n".join([seen["verdict"], *seen["evidence"], seen["next"]])) == FORKED
    assert stack.project.run("reconcile", "vm", "--push-state").code == 32
    assert stack.project.apply().code == 32
    assert stack.state == theirs
    assert stack.left_in_module.read_bytes() == left
    assert private(stack.copies())

    for object_id in mine:
        thing = cloud.find(object_id)
        assert thing
        cloud.vanish(object_id)
        name = f"fakecloud_server.web[{thing.name[-1]}]={object_id}"
        assert stack.project.run("reconcile", "vm", "--absent", name, "--reason", "deleted by hand").code == 0
    last = stack.reconciled()
    assert last["next"] == "hybridwrap reconcile vm --drop-state --reason 'how you know'"
    dropped = stack.project.run("reconcile", "vm", "--drop-state", "--reason", "theirs is the right one")
    assert dropped.code == 0, dropped.text
    assert stack.project.statuses() == {"vm": "ok"}
    assert not stack.left_in_module.exists()
    assert stack.state == theirs


FORKED = """\
unknown
apply OPERATION by ana@laptop, TIME: unknown: \
the engine could not save its state and left a copy: Failed to save state (and 1 more)
error: Failed to persist state to backend
state: serial N, 2 objects at s3://states/shop/default/vm.tfstate
changed outside (serial N -> N); recorded: no state at s3://states/shop/default/vm.tfstate, 2 objects
a state that could not be saved: serial N, 2 objects, at .hybridwrap/operations/OPERATION/unsaved.tfstate; \
the state in its place is of another lineage
only in that state: fakecloud_server.web[0] srv-1, fakecloud_server.web[1] srv-1
only in the state in its place: fakecloud_server.web[0] srv-1, fakecloud_server.web[1] srv-1
2 to create: 2 made and not saved
made, and another object has its place in the state: fakecloud_server.web[0] (fakecloud_server), id srv-1, name web-0; \
remove one of the two by hand; once srv-1 is gone: hybridwrap reconcile vm --absent 'fakecloud_server.web[0]=srv-1' \
--reason 'how you know'
made, and another object has its place in the state: fakecloud_server.web[1] (fakecloud_server), id srv-1, name web-1; \
remove one of the two by hand; once srv-1 is gone: hybridwrap reconcile vm --absent 'fakecloud_server.web[1]=srv-1' \
--reason 'how you know'
hybridwrap reconcile vm --absent 'fakecloud_server.web[0]=srv-1' --reason 'how you know'"""


@pytest.mark.parametrize("stack", [ENCRYPTED], indirect=True)
def test_with_a_key_it_lies_encrypted_in_the_ledger_and_any_host_can_put_it_back(stack: Stack, cloud: Cloud) -> None:
    stack.refuse()
    assert stack.project.apply().code == 32
    ledger = stack.project.root / ".hybridwrap" / "ledger"
    assert not any(b"pw-srv-" in file.read_bytes() for file in ledger.rglob("*") if file.is_file())
    stack.heal()
    for copy in stack.copies():  # the host is lost
        copy.unlink()

    seen = stack.reconciled()
    assert any("of the ledger; there is no state in its place" in line for line in seen["evidence"])
    pushed = stack.project.run("reconcile", "vm", "--push-state")

    assert pushed.code == 0, pushed.text
    assert stack.project.statuses() == {"vm": "ok"}
    assert len(cloud.calls(Operation.CREATE)) == 2
    assert stack.copies() == []


def test_without_a_key_no_copy_of_it_goes_into_the_ledger(stack: Stack) -> None:
    stack.refuse()
    assert stack.project.apply().code == 32
    record = stack.project.ledger().record("vm")
    assert record.kept
    assert (record.kept.blob, record.kept.rival) == ("", "")
    ledger = stack.project.root / ".hybridwrap" / "ledger"
    assert not any(b"pw-srv-" in file.read_bytes() for file in ledger.rglob("*") if file.is_file())


def test_a_state_that_the_engine_could_only_print_is_caught_and_not_echoed(stack: Stack, cloud: Cloud) -> None:
    """Its folder takes no file of that name: the engine prints the whole state into its events."""
    file = stack.project.root / "vm" / "main.tf"
    file.write_text(
        file.read_text()
        + """
resource "terraform_data" "full" {
  provisioner "local-exec" {
    command = "mkdir errored.tfstate"
  }
}
"""
    )
    stack.refuse()

    ran = stack.project.apply()

    assert ran.code == 32, ran.text
    assert "pw-srv-" not in ran.text
    assert private(stack.copies())
    assert stack.copies()
    stack.left_in_module.rmdir()
    stack.heal()
    seen = stack.reconciled()
    assert seen["next"] == "hybridwrap reconcile vm --push-state"
    pushed = stack.project.run("reconcile", "vm", "--push-state")
    assert pushed.code == 0, pushed.text
    assert stack.project.statuses() == {"vm": "ok"}
    assert len(cloud.calls(Operation.CREATE)) == 2


def test_a_local_state_that_was_left_behind_goes_back_into_its_file(
    tmp_path: Path, fakecloud_env: Mapping[str, str], engine_program: str, cloud: Cloud
) -> None:
    """No record speaks of it: somebody else's apply has left it in the module's folder."""
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, fakecloud_env)
    manifest = f"version: 1\nstack: shop\nengine: {{program: {engine_program}}}\nmodules: {{vm: {{source: vm}}}}\n"
    project.write(manifest, vm=VM)
    assert project.apply().code == 0
    state = root / ".hybridwrap" / "state" / "default" / "vm.tfstate"
    old = state.read_bytes()
    project.write(manifest, vm=VM.replace("count = 2", "count = 4"))
    assert project.apply().code == 0
    left = root / "vm" / "errored.tfstate"
    left.write_bytes(state.read_bytes())
    state.write_bytes(old)
    assert project.apply().code in {10, 32}

    assert "next: hybridwrap reconcile vm --push-state" in project.run("reconcile").out
    pushed = project.run("reconcile", "vm", "--push-state")

    assert pushed.code == 0, pushed.text
    assert len(parse_state(state.read_bytes()).instances) == 4
    assert not left.exists()
    assert project.apply().code == 0
    assert len(cloud.calls(Operation.CREATE)) == 4
