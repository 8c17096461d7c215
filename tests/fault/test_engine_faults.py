"""Signals, locks and late writes: what can happen to an engine that is at work, and to its state."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import asdict  # noqa: TID251  of a dataclass
from typing import Any

import pytest
import yaml

from tests.fault.conftest import Score
from tests.fault.soundness import Measured, measure
from tests.fault.test_crash_table import converge
from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.faults import Operation
from tests.support.hour_later import with_an_hour_to_pass
from tests.support.lost_runner import (
    NETWORK,
    engines_of,
    hanging,
    kill,
    kill_engines,
    ledger_of,
    until_said,
    wait_until,
)
from tests.support.project import Project, wait
from tests.support.s3_servers import Fault, Server

pytestmark = pytest.mark.e2e
LOCK = "shop/default/network.tfstate.tflock"
LEAK = """
variable "token" {
  type      = string
  sensitive = true
}
resource "terraform_data" "leak" {
  input = fakecloud_server.gate.id
  provisioner "local-exec" {
    command     = "echo $T >&2; exit 1"
    environment = { T = var.token }
  }
}
"""


class Bucket:
    """The bucket of a project, past hybridwrap."""

    def __init__(self, project: Project, server: Server) -> None:
        manifest = yaml.safe_load((project.root / "hybridwrap.yaml").read_text())
        self._name = manifest["state"]["s3"]["bucket"]
        self._client = server.client()

    def put(self, key: str, body: bytes) -> None:
        self._client.put_object(Bucket=self._name, Key=key, Body=body)

    def get(self, key: str) -> bytes:
        return bytes(self._client.get_object(Bucket=self._name, Key=key)["Body"].read())

    def names(self) -> set[str]:
        return {item["Key"] for item in self._client.list_objects_v2(Bucket=self._name)["Contents"]}


@pytest.fixture
def bucket(on_s3: Project, moto: Server) -> Bucket:
    return Bucket(on_s3, moto)


@pytest.mark.matrix
@pytest.mark.parametrize("group", [False, True], ids=["hybridwrap alone", "its whole group"])
def test_one_interrupt_reaches_the_engine_once_and_ends_it_gracefully(
    on_s3: Project, cloud: Cloud, bucket: Bucket, score: Score, group: bool
) -> None:
    with hanging(on_s3, cloud, "gate") as process:
        (os.killpg if group else os.kill)(process.pid, signal.SIGINT)
        cloud.wait_for_calls(Operation.STOP)
    ran = wait(process)

    assert ran.code == 130, ran.text
    assert len(cloud.calls(Operation.STOP)) == 1
    record = ledger_of(on_s3).record("network")
    assert (record.status, record.outcome) == ("error", "interrupted")
    assert on_s3.statuses()["vm"] == "pending"
    assert LOCK not in bucket.names()
    converge(on_s3)
    measured = measure(on_s3, cloud)
    score.add(boundary="one interrupt", **asdict(measured))
    assert measured == Measured()


@pytest.mark.matrix
def test_a_closed_terminal_ends_nothing(on_s3: Project, cloud: Cloud) -> None:
    with hanging(on_s3, cloud, "gate", "network") as process:
        os.killpg(process.pid, signal.SIGHUP)
    assert wait(process).code == 0
    assert on_s3.statuses()["network"] == "ok"


def test_a_lock_of_somebody_else_is_respected_and_shown(on_s3: Project, cloud: Cloud, bucket: Bucket) -> None:
    foreign = {"ID": "9f2d", "Operation": "OperationTypeApply", "Who": "ben@ci", "Created": "2026-01-02T03:04:05Z"}
    bucket.put(LOCK, json.dumps(foreign).encode())

    ran = on_s3.apply()

    assert ran.code == 20, ran.text
    assert "9f2d" in ran.text
    assert "ben@ci" in ran.text
    assert ledger_of(on_s3).history("network") == ()
    assert cloud.calls(Operation.CREATE) == []
    assert json.loads(bucket.get(LOCK)) == foreign, "nobody but its holder takes it away"
    shown = on_s3.run("unlock", "network")
    assert "lock 9f2d of ben@ci since 2026-01-02 03:04:05 UTC" in shown.out
    assert "hybridwrap unlock network --state-lock 9f2d" in shown.out
    assert on_s3.run("unlock", "network", "--state-lock", "9f2d").code == 0
    converge(on_s3)


@pytest.mark.parametrize("garbage", [b"", b"<html>", b'{"ID": 7}'], ids=["nothing", "no JSON", "no lock"])
@pytest.mark.matrix
def test_what_is_no_lock_in_a_locks_place_is_named_by_its_content(
    on_s3: Project, bucket: Bucket, garbage: bytes
) -> None:
    bucket.put(LOCK, garbage)
    assert on_s3.apply("network").code != 0
    shown = on_s3.run("unlock", "network").out
    name = shown.rpartition("--state-lock ")[2].strip()
    assert name.startswith("sha256:")
    assert on_s3.run("unlock", "network", "--state-lock", name).code == 0
    converge(on_s3)


@pytest.mark.matrix
def test_a_lock_that_the_engine_could_not_release_is_released_by_a_later_command(
    on_s3: Project, cloud: Cloud, moto: Server, bucket: Bucket, score: Score
) -> None:
    assert moto.app
    # not before the engine's apply: its plan has a lock of its own
    with hanging(on_s3, cloud, "gate", "network") as process:
        moto.app.faults.append(Fault("DELETE", LOCK, 403, "AccessDenied"))
    ran = wait(process)

    assert ran.code == 0, ran.text
    assert "state lock" in ran.text
    record = ledger_of(on_s3).record("network")
    assert record.status == "ok"
    assert record.state_lock == json.loads(bucket.get(LOCK))["ID"]
    moto.app.faults.clear()
    (on_s3.root / "network/main.tf").write_text(NETWORK.replace("tags = {", 'tags = { size = "large",'))
    again = on_s3.apply("network")
    assert again.code == 0, again.text
    assert "released its own state lock" in again.text
    assert ledger_of(on_s3).record("network").state_lock == ""
    measured = measure(on_s3, cloud)
    score.add(boundary="unlock denied", **asdict(measured))
    assert measured == Measured()


def test_a_state_that_arrives_after_its_engine_is_dead_is_waited_for(
    on_s3: Project, cloud: Cloud, bucket: Bucket, score: Score
) -> None:
    converge(on_s3)
    key = "shop/default/network.tfstate"
    (on_s3.root / "network/main.tf").write_text(NETWORK + 'resource "fakecloud_server" "late" { name = "late" }\n')
    with hanging(on_s3, cloud, "late", "network") as process:
        kill(process)
        kill_engines(on_s3)
    late: dict[str, Any] = json.loads(bucket.get(key))
    late["serial"] += 1

    over = on_s3.root / "over"
    syncing = with_an_hour_to_pass(on_s3, over).start("sync", HYBRIDWRAP_SETTLE="1h", PYTHONUNBUFFERED="1")
    assert syncing.stderr
    until_said(syncing, "waiting 1h", stream=syncing.stderr)
    bucket.put(key, json.dumps(late).encode())
    over.touch()
    ran = wait(syncing)

    assert ran.code == 0, ran.text
    record = ledger_of(on_s3).record("network")
    assert record.state is not None
    assert record.state.serial == late["serial"], "the state that arrived is the one that was read"
    assert record.status == "unknown"
    assert [o.address for o in record.objects if o.open] == ["fakecloud_server.late"]
    assert LOCK not in bucket.names(), "the dead engine's lock is proven to be its own, and released after the wait"
    score.add(boundary="late state", **asdict(measure(on_s3, cloud)))


def test_secrets_of_a_dead_operation_are_in_no_record_and_no_log(project: Project, cloud: Cloud) -> None:
    secret = "hunter2-hunter2"
    manifest = project.root / "hybridwrap.yaml"
    manifest.write_text(
        manifest.read_text().replace(
            "network: {source: network}", "network: {source: network, inputs: {token: {from_env: TOKEN}}}"
        )
    )
    source = NETWORK.replace("network = fakecloud_network.net.id }", "token = var.token }") + LEAK
    (project.root / "network/main.tf").write_text(source)
    with_token = Project(project.root, {**project.environ, "TOKEN": secret})
    with hanging(with_token, cloud, "gate", "network") as process:
        kill(process)
    wait_until(lambda: "gone" in with_token.status()["network"]["reason"])

    ran = project.run("sync")  # by somebody who does not know the secret

    assert ran.code == 0, ran.text
    assert "left behind: network error" in ran.text
    home = project.root / ".hybridwrap"
    holding = [file for part in ("ledger", "operations") for file in (home / part).rglob("*") if file.is_file()]
    assert [file for file in holding if secret.encode() in file.read_bytes()] == []
    assert secret not in ran.text


@pytest.mark.matrix
def test_three_interrupts_in_ten_seconds_leave_the_outcome_unknown(
    on_s3: Project, cloud: Cloud, bucket: Bucket, score: Score
) -> None:
    with hanging(on_s3, cloud, "gate", "network") as process:
        for said in ("gracefully", "still waiting", "again"):
            process.send_signal(signal.SIGINT)
            until_said(process, said, stream=process.stderr)
        wait_until(lambda: not engines_of(on_s3))
    ran = wait(process)

    assert ran.code == 32, ran.text
    record = ledger_of(on_s3).record("network")
    assert record.status == "unknown"
    assert "twice" in record.reason
    assert ("fakecloud_server.gate", True) in {(o.address, o.open) for o in record.objects}
    assert on_s3.apply("network").code == 32
    measured = measure(on_s3, cloud)
    score.add(boundary="two interrupts", **asdict(measured))
    assert measured == Measured()
