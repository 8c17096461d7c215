"""A half-applied stack of the real AWS provider, state and ledger in S3, is read, reconciled, resumed and torn down.

moto plays EC2, SSM and S3. The provider itself waits ten seconds for an instance to start, and ten for it to end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.support import s3_servers
from tests.support.aws_provider import NotAvailable, attached, aws_provider_configuration
from tests.support.aws_stack import MODULES, SECOND_SUBNET, client, write_chain
from tests.support.lost_runner import kill_engines, ledger_of, wait_until
from tests.support.processes import carried
from tests.support.project import Project, Ran, wait
from tests.support.s3_servers import Server

pytestmark = [pytest.mark.e2e, pytest.mark.aws_provider]

PATIENCE = 300  # seconds for one command: it starts the provider several times a module
_stacks = count()


@dataclass
class Amazon:
    """What moto holds of one stack."""

    server: Server
    name: str

    def __post_init__(self) -> None:
        self.ec2, self.ssm = client("ec2", self.server), client("ssm", self.server)

    def vpcs(self) -> list[str]:
        found = self.ec2.describe_vpcs(Filters=[_named("tag:Stack", self.name)])["Vpcs"]
        return [vpc["VpcId"] for vpc in found]

    def subnets(self) -> list[str]:
        found = self.ec2.describe_subnets(Filters=[_named("vpc-id", *self.vpcs())])["Subnets"] if self.vpcs() else []
        return [subnet["SubnetId"] for subnet in found]

    def groups(self) -> list[str]:
        found = self.ec2.describe_security_groups(Filters=[_named("group-name", self.name)])["SecurityGroups"]
        return [group["GroupId"] for group in found]

    def instances(self) -> list[str]:
        found = self.ec2.describe_instances(Filters=[_named("tag:Name", self.name)])["Reservations"]
        return [i["InstanceId"] for r in found for i in r["Instances"] if i["State"]["Name"] != "terminated"]

    def parameters(self) -> list[str]:
        found = self.ssm.describe_parameters()["Parameters"]
        return [p["Name"] for p in found if p["Name"].startswith(f"/{self.name}/")]

    def left(self) -> list[str]:
        return [*self.vpcs(), *self.subnets(), *self.groups(), *self.instances(), *self.parameters()]

    def state_locks(self) -> list[str]:
        found = self.server.client().list_objects_v2(Bucket=self.name).get("Contents", [])
        return [item["Key"] for item in found if item["Key"].endswith(".tflock")]


def _named(name: str, *values: str) -> dict[str, Any]:
    return {"Name": name, "Values": list(values)}


@pytest.fixture(scope="module")
def provider(session_word: str) -> Iterator[str]:
    try:
        configuration = aws_provider_configuration()
    except NotAvailable as reason:
        pytest.skip(str(reason))
    with carried(session_word), attached(configuration) as provider:
        yield provider


@pytest.fixture
def amazon(moto: Server) -> Amazon:
    return Amazon(moto, moto.make_bucket(f"half-applied-{next(_stacks)}"))


@pytest.fixture
def project(tmp_path: Path, provider: str, amazon: Amazon) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    environ = {
        "TF_REATTACH_PROVIDERS": provider,
        "AWS_ENDPOINT_URL_RESOURCE_GROUPS_TAGGING_API": amazon.server.endpoint,
        "HYBRIDWRAP_SETTLE": "1s",
    }
    project = Project(root, {**s3_servers.environment(), **environ})
    write_chain(project, amazon.server, amazon.name)
    return project


def run(project: Project, *argv: str) -> Ran:
    return wait(project.start(*argv), seconds=PATIENCE)


def must(project: Project, *argv: str) -> Ran:
    ran = run(project, *argv)
    assert ran.code == 0, ran.text
    return ran


def test_a_failure_in_the_middle_is_told_in_full_and_resume_does_the_rest(project: Project, amazon: Amazon) -> None:
    must(project, "apply", "--auto-approve")
    before = project.outputs()
    (instance,) = amazon.instances()
    assert before["check"]["server"]["value"] == instance
    by_hand = amazon.ec2.create_subnet(VpcId=amazon.vpcs()[0], CidrBlock=SECOND_SUBNET)["Subnet"]["SubnetId"]
    write_chain(project, amazon.server, amazon.name, vpc="second", subnets=2)

    ran = run(project, "apply", "--auto-approve")

    assert ran.code == 4, ran.text
    assert project.statuses() == {"network": "error", "server": "pending", "parameter": "pending", "check": "pending"}
    assert "InvalidSubnet.Conflict" in project.call("why", "check").out
    old, new = before["network"], project.outputs()["network"]
    assert _shown(new) == {
        "name": ("second", "known"),
        "vpc_id": (old["vpc_id"]["value"], "known"),
        "subnet_id": (old["subnet_id"]["value"], "known"),
        "subnet_ids": (old["subnet_ids"]["value"], "stale"),
    }

    amazon.ec2.delete_subnet(SubnetId=by_hand)
    must(project, "resume", "--auto-approve")

    assert project.statuses() == dict.fromkeys(MODULES, "ok")
    after = project.outputs()
    assert sorted(after["network"]["subnet_ids"]["value"]) == sorted(amazon.subnets())
    assert len(amazon.subnets()) == 2
    assert after["check"]["server"]["value"] == instance
    assert amazon.instances() == [instance]


def test_what_a_killed_engine_made_is_taken_in_once_and_torn_down(project: Project, amazon: Amazon) -> None:
    process = project.start("apply", "--auto-approve")
    wait_until(lambda: bool(amazon.instances()) or process.poll() is not None, seconds=PATIENCE)
    kill_engines(project)
    killed = wait(process)
    assert killed.code == 32, killed.text
    assert project.statuses() == {"network": "ok", "server": "unknown", "parameter": "pending", "check": "pending"}
    (group,), (instance,) = amazon.groups(), amazon.instances()

    (seen,) = must(project, "reconcile", "--json").json["modules"]

    said = "\n".join(seen["evidence"])
    assert f"made, not in the state: aws_security_group.this (aws_security_group), id {group}," in said
    assert f"begun, no answer: aws_instance.this (aws_instance), tags Name={amazon.name};" in said
    assert seen["next"] == "hybridwrap reconcile server --import"
    assert amazon.state_locks() == [f"{amazon.name}/default/server.tfstate.tflock"]

    must(project, "reconcile", "server", "--import", "--id", f"aws_instance.this={instance}")
    must(project, "resume", "--auto-approve")

    assert project.statuses() == dict.fromkeys(MODULES, "ok")
    assert (amazon.groups(), amazon.instances()) == ([group], [instance]), "nothing was made twice"

    must(project, "destroy", "--auto-approve")

    assert project.statuses() == dict.fromkeys(MODULES, "destroyed")
    assert amazon.left() == []
    assert amazon.state_locks() == []
    ledger = ledger_of(project)
    assert [ledger.verify(module) for module in MODULES] == [[]] * len(MODULES)
    assert ledger.record("server").evidence[0].startswith("A3"), "it was unknown once: looked for twice"
    assert any("AWS tags" in line for line in ledger.record("network").evidence)


def _shown(outputs: dict[str, dict[str, Any]]) -> dict[str, tuple[Any, str]]:
    return {name: (output["value"], output["provenance"]) for name, output in outputs.items()}
