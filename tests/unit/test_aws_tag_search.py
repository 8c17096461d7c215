"""The search by tags finds what is there, and says so when it can't look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

import boto3
import pytest

from hybridwrap.adapters.aws_tag_search import search_by_tags
from hybridwrap.domain.absence import Answer
from tests.support.s3_servers import REGION, Fault, Server, environment, nobody


@pytest.fixture
def env(moto: Server) -> Mapping[str, str]:
    return {**environment(), "AWS_ENDPOINT_URL": moto.endpoint}


@pytest.fixture
def faults(moto: Server) -> Iterator[list[Fault]]:
    assert moto.app is not None
    yield moto.app.faults
    moto.app.faults.clear()


@pytest.fixture
def tags() -> dict[str, str]:
    return {"stack": "shop", "module": f"vm-{uuid4().hex}"}


def make_vpc(server: Server, tags: Mapping[str, str]) -> tuple[Any, str]:
    session: Any = boto3.Session("x", "y", region_name=REGION)
    ec2 = session.client("ec2", endpoint_url=server.endpoint)
    vpc = str(ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"])
    ec2.create_tags(Resources=[vpc], Tags=[{"Key": name, "Value": value} for name, value in tags.items()])
    return ec2, vpc


def test_what_has_all_the_tags_is_found_by_its_arn_until_it_is_gone(
    moto: Server, env: Mapping[str, str], tags: dict[str, str]
) -> None:
    assert search_by_tags(tags, region="", env=env, seconds=120).answer is Answer.ABSENT
    ec2, vpc = make_vpc(moto, tags)

    found = search_by_tags(tags, region=REGION, env=env, seconds=120)

    assert found.answer is Answer.PRESENT
    assert [arn.rpartition("/")[2] for arn in found.survivors] == [vpc]
    assert found.search
    assert found.by == f"AWS tags module={tags['module']}, stack=shop in us-east-1"
    ec2.delete_vpc(VpcId=vpc)
    assert search_by_tags(tags, region="", env=env, seconds=120).answer is Answer.ABSENT


def test_what_lacks_one_of_the_tags_is_not_the_module_s(
    moto: Server, env: Mapping[str, str], tags: dict[str, str]
) -> None:
    make_vpc(moto, tags)
    assert search_by_tags({**tags, "environment": "prod"}, region="", env=env, seconds=120).answer is Answer.ABSENT


@pytest.mark.parametrize(("status", "code"), [(403, "AccessDeniedException"), (400, "ExpiredTokenException")])
def test_forbidden_is_never_absent(
    env: Mapping[str, str], tags: dict[str, str], faults: list[Fault], status: int, code: str
) -> None:
    faults.append(Fault(status=status, code=code, headers={"x-amzn-errortype": code}))
    probe = search_by_tags(tags, region="", env=env, seconds=120)
    assert probe.answer is Answer.UNVERIFIABLE
    assert probe.detail


def test_unreachable_is_never_absent(tags: dict[str, str], aws_environment: None) -> None:
    with nobody() as address:
        env = {**environment(), "AWS_ENDPOINT_URL": address}
        assert search_by_tags(tags, region="", env=env, seconds=1).answer is Answer.UNVERIFIABLE


@pytest.mark.parametrize("lacking", [{"AWS_REGION": ""}, {"AWS_ACCESS_KEY_ID": "", "AWS_PROFILE": "no-such-profile"}])
def test_who_has_no_way_to_ask_has_not_looked(
    env: Mapping[str, str], tags: dict[str, str], lacking: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    assert search_by_tags(tags, region="", env={**env, **lacking}, seconds=5).answer is Answer.UNVERIFIABLE
