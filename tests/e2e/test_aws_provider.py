"""The real AWS provider works against moto, so that a stack of it can be rehearsed without an account.

The provider itself waits ten seconds for an instance to start, and ten for it to end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.support.aws_provider import NotAvailable, aws_provider_configuration
from tests.support.engines import RealEngine, engines
from tests.support.s3_servers import moto
from tests.support.stacks import aws_with_server

pytestmark = [pytest.mark.e2e, pytest.mark.aws_provider]


@pytest.fixture(scope="module")
def engine() -> RealEngine:
    return next(engine for engine in engines().values() if engine)


@pytest.fixture(scope="module")
def aws_endpoint() -> Iterator[str]:
    with moto() as server:
        yield server.endpoint


@pytest.fixture(scope="module")
def aws_env() -> dict[str, str]:
    try:
        return {"TF_CLI_CONFIG_FILE": str(aws_provider_configuration())}
    except NotAvailable as reason:
        pytest.skip(str(reason))


def instances(ec2: Any) -> dict[str, str]:
    """The state of each instance, by id."""
    found = [i for reservation in ec2.describe_instances()["Reservations"] for i in reservation["Instances"]]
    return {instance["InstanceId"]: instance["State"]["Name"] for instance in found}


def test_the_real_aws_provider_makes_and_destroys_a_network_a_server_and_a_parameter(
    tmp_path: Path, engine: RealEngine, aws_endpoint: str, aws_env: dict[str, str]
) -> None:
    stack = aws_with_server(tmp_path / "shop", aws_endpoint)
    ec2 = boto3.client("ec2", "us-east-1", endpoint_url=aws_endpoint, aws_access_key_id="t", aws_secret_access_key="t")

    def must(module: str, *args: str) -> str:
        return engine.must(stack.source(module), *args, env=aws_env)

    others = instances(ec2)  # all servers of one process share moto's memory
    for module in stack.modules:
        must(module, "init")
    network = ("-var=name=shop", "-var=cidr=10.0.0.0/16")
    must("network", "apply", "-auto-approve", *network)
    made = {name: output["value"] for name, output in json.loads(must("network", "output", "-json")).items()}
    subnet = f"-var=subnet_id={made['subnet_id']}"
    for command in ("apply", "destroy"):
        server = ("-auto-approve", subnet)
        with engine.started(stack.source("server"), command, *server, env=aws_env) as process:
            must("application", command, "-auto-approve", subnet, "-var=name=shop")
            assert process.wait(timeout=120) == 0, (stack.source("server") / "stderr.txt").read_text()
        states = {state for instance, state in instances(ec2).items() if instance not in others}
        assert states == {{"apply": "running", "destroy": "terminated"}[command]}
    assert made["vpc_id"] in {vpc["VpcId"] for vpc in ec2.describe_vpcs()["Vpcs"]}
    must("network", "destroy", "-auto-approve", *network)
    assert made["vpc_id"] not in {vpc["VpcId"] for vpc in ec2.describe_vpcs()["Vpcs"]}
