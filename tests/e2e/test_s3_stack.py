"""State and ledger in one bucket: on a real S3 server, and on moto, whose answers can be made to go wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path

import pytest

from tests.support import s3_servers
from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.faults import Operation
from tests.support.project import FAKECLOUD, Project, wait
from tests.support.s3_servers import Fault, Server

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
{state}
modules:
  network: {{source: network}}
  vm: {{source: vm, inputs: {{network_id: "{{{{ modules.network.id }}}}"}}}}
"""
NETWORK = (
    FAKECLOUD
    + 'resource "fakecloud_network" "net" { name = "net" }\noutput "id" { value = fakecloud_network.net.id }\n'
)
VM = (
    FAKECLOUD
    + """
variable "network_id" { type = string }
resource "fakecloud_server" "web" {
  name       = "web"
  network_id = var.network_id
}
output "ip" { value = fakecloud_server.web.ip }
"""
)
_buckets = count()


def project_on(server: Server, root: Path, environ: Mapping[str, str]) -> Project:
    bucket = server.make_bucket(f"stack-{next(_buckets)}")
    root.mkdir(exist_ok=True)
    project = Project(root, {**environ, **s3_servers.environment()})
    project.write(STACK.format(state=server.state(bucket)), network=NETWORK, vm=VM)
    return project


@pytest.fixture(params=["moto", "seaweedfs"])
def project(request: pytest.FixtureRequest, tmp_path: Path, fakecloud_env: Mapping[str, str]) -> Project:
    return project_on(request.getfixturevalue(request.param), tmp_path / "project", fakecloud_env)


@pytest.fixture
def on_moto(moto: Server, tmp_path: Path, fakecloud_env: Mapping[str, str]) -> Iterator[Project]:
    assert moto.app
    yield project_on(moto, tmp_path / "project", fakecloud_env)
    moto.app.faults.clear()


def inject(server: Server, fault: Fault) -> None:
    assert server.app
    server.app.faults.append(fault)


def test_a_stack_lives_in_one_bucket_and_any_checkout_can_go_on(
    project: Project, cloud: Cloud, tmp_path: Path, fakecloud_env: Mapping[str, str]
) -> None:
    ran = project.apply()
    assert ran.code == 0, ran.text
    elsewhere = Project(tmp_path / "elsewhere", project.environ)
    elsewhere.root.mkdir()
    elsewhere.write((project.root / "hybridwrap.yaml").read_text(), network=NETWORK, vm=VM)

    assert elsewhere.statuses() == {"network": "ok", "vm": "ok"}
    assert "2 unchanged" in elsewhere.apply().out
    assert [call.name for call in cloud.calls(Operation.CREATE)] == ["net", "web"]


def test_of_two_runs_at_once_one_applies_and_the_other_is_busy_or_finds_nothing_to_do(
    project: Project, cloud: Cloud
) -> None:
    assert project.apply("network").code == 0
    cloud.inject("web", "slow=2")
    first, second = project.start("apply", "--auto-approve", "vm"), project.start("apply", "--auto-approve", "vm")
    codes = sorted([wait(first).code, wait(second).code])

    assert codes in ([0, 20], [0, 0])
    assert len(cloud.calls(Operation.CREATE, name="web")) == 1
    assert project.apply("vm").code == 0
    assert project.statuses()["vm"] == "ok"
    assert len(cloud.objects(name="web")) == 1


@pytest.mark.parametrize("status", [403, 500])
def test_a_ledger_that_refuses_writes_keeps_the_engine_from_starting(
    on_moto: Project, moto: Server, cloud: Cloud, status: int
) -> None:
    inject(moto, Fault("PUT", "/hybridwrap/", status, "AccessDenied" if status == 403 else "InternalError"))
    ran = on_moto.apply()
    assert ran.code == 30, ran.text
    assert cloud.calls() == []


def test_a_bucket_that_is_gone_keeps_the_engine_from_starting(on_moto: Project, moto: Server, cloud: Cloud) -> None:
    (on_moto.root / "hybridwrap.yaml").write_text(STACK.format(state=moto.state("gone-1")))
    ran = on_moto.apply()
    assert ran.code == 30, ran.text
    assert "gone-1" in ran.err
    assert cloud.calls() == []


def test_a_begin_that_is_refused_after_the_plan_changes_nothing(on_moto: Project, moto: Server, cloud: Cloud) -> None:
    assert on_moto.apply("network").code == 0
    inject(moto, Fault("PUT", "/log/vm/", 403, "AccessDenied"))
    ran = on_moto.apply("vm")
    assert ran.code == 30, ran.text
    assert cloud.calls(Operation.CREATE, name="web") == []
    assert moto.app
    moto.app.faults.clear()
    assert on_moto.statuses()["vm"] in ("none", "pending")
    assert on_moto.apply("vm").code == 0


def test_a_begin_whose_answer_was_lost_is_found_and_the_engine_runs_once(
    on_moto: Project, moto: Server, cloud: Cloud
) -> None:
    inject(moto, Fault("PUT", "/log/network/", 500, times=1, store=True))
    ran = on_moto.apply("network")
    assert ran.code == 0, ran.text
    assert len(cloud.calls(Operation.CREATE, name="net")) == 1


def test_a_result_that_cannot_be_recorded_is_kept_and_said(on_moto: Project, moto: Server, cloud: Cloud) -> None:
    inject(moto, Fault("PUT", "/log/network/0*2", 403, "AccessDenied"))
    ran = on_moto.apply()
    assert ran.code == 34, ran.text
    assert "hybridwrap sync" in ran.text
    assert list(on_moto.root.glob(".hybridwrap/operations/*/result.json"))
    assert cloud.calls(Operation.CREATE, name="web") == [], "what needs it was not begun"
