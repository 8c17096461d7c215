"""`bootstrap`: a bucket is made as it should be; one that exists is shown, and changed only on somebody's word."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from hybridwrap.adapters.bootstrap.bucket import Bucket
from hybridwrap.adapters.bootstrap.policy import demands_tls, with_tls
from hybridwrap.adapters.bootstrap.settings import UNSUPPORTED, Wishes
from hybridwrap.adapters.s3_connection import S3Settings
from hybridwrap.adapters.schemas import load_schema
from hybridwrap.errors import LedgerUnreachable, PreflightRefused
from tests.support import s3_servers
from tests.support.project import Project
from tests.support.s3_servers import Fault, Server
from tests.support.terminal import Terminal

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
{state}
modules:
  docs: {{source: docs}}
"""
ARN = "arn:aws:s3:::acme"
_buckets = count()


@pytest.fixture
def name() -> str:
    return f"bootstrap-{next(_buckets)}"


@pytest.fixture(autouse=True)
def no_faults_are_left(moto: Server) -> Iterator[None]:
    yield
    assert moto.app
    moto.app.faults.clear()


def project_on(server: Server, root: Path, bucket: str, **more: str) -> Project:
    project = Project(root, s3_servers.environment())
    project.write(STACK.format(state=server.state(bucket, **more)), docs='resource "terraform_data" "docs" {}\n')
    return project


def settings_on(server: Server, bucket: str, region: str = "us-east-1") -> S3Settings:
    return S3Settings(bucket, region=region, endpoint=server.endpoint, path_style=True)


def encryption_of(server: Server, bucket: str) -> dict[str, Any]:
    answer = server.client().get_bucket_encryption(Bucket=bucket)
    found: dict[str, Any] = answer["ServerSideEncryptionConfiguration"]["Rules"][0][
        "ApplyServerSideEncryptionByDefault"
    ]
    return found


def test_a_bucket_that_is_not_there_is_made_as_it_should_be(moto: Server, tmp_path: Path, name: str) -> None:
    project = project_on(moto, tmp_path, name, region="eu-central-1")
    ran = project.call("bootstrap", "--old-versions", "90")
    assert ran.code == 0, ran.text
    assert f"s3://{name} in eu-central-1: made" in ran.out
    client = moto.client()
    assert client.get_bucket_location(Bucket=name)["LocationConstraint"] == "eu-central-1"
    assert client.get_bucket_versioning(Bucket=name)["Status"] == "Enabled"
    assert encryption_of(moto, name) == {"SSEAlgorithm": "AES256"}
    assert set(client.get_public_access_block(Bucket=name)["PublicAccessBlockConfiguration"].values()) == {True}
    (rule,) = client.get_bucket_lifecycle_configuration(Bucket=name)["Rules"]
    assert rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": 90}
    assert client.list_object_versions(Bucket=name).get("Versions", []) == [], "nothing is left of what was tried"

    again = project.call("bootstrap", "--old-versions", "90")
    assert again.code == 0
    assert "as it should be" in again.out


def test_the_key_that_the_manifest_names_encrypts(moto: Server, tmp_path: Path, name: str) -> None:
    assert project_on(moto, tmp_path, name, kms_key_id="alias/hybridwrap").run("bootstrap").code == 0
    assert encryption_of(moto, name) == {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": "alias/hybridwrap"}


def test_an_existing_bucket_is_shown_and_not_changed_where_nobody_can_be_asked(
    moto: Server, tmp_path: Path, name: str
) -> None:
    moto.make_bucket(name)
    ran = project_on(moto, tmp_path, name).run("bootstrap")
    assert ran.code == 64
    assert "there, and not as it should be" in ran.out
    assert "should be: on" in ran.out
    assert "nothing was changed" in ran.err
    assert "--yes" in ran.err
    assert "Status" not in moto.client().get_bucket_versioning(Bucket=name)


@pytest.mark.parametrize(("answer", "code", "status"), [("y", 0, "Enabled"), ("n", 130, None)])
def test_at_a_terminal_it_asks_once(
    moto: Server, tmp_path: Path, name: str, answer: str, code: int, status: str | None
) -> None:
    moto.make_bucket(name)
    project = project_on(moto, tmp_path, name)
    argv = [sys.executable, "-m", "hybridwrap", "bootstrap"]
    with Terminal(argv, cwd=project.root, env=project.env, columns=160) as terminal:
        terminal.expect("Change versioning, encryption, public access of")
        terminal.type(answer)
        assert terminal.wait() == code
    assert moto.client().get_bucket_versioning(Bucket=name).get("Status") == status


def test_yes_changes_only_what_is_missing(moto: Server, tmp_path: Path, name: str) -> None:
    moto.make_bucket(name)
    client = moto.client()
    rules = {"Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": "mine"}}]}
    client.put_bucket_encryption(Bucket=name, ServerSideEncryptionConfiguration=rules)
    client.put_object(Bucket=name, Key="kept", Body=b"kept")
    ran = project_on(moto, tmp_path, name).run("bootstrap", "--yes")
    assert ran.code == 0, ran.text
    assert client.get_bucket_versioning(Bucket=name)["Status"] == "Enabled"
    assert encryption_of(moto, name)["KMSMasterKeyID"] == "mine", "a key of one's own is better than what was asked for"
    assert client.get_object(Bucket=name, Key="kept")["Body"].read() == b"kept"


def test_what_a_server_could_not_work_with_is_not_offered_again_on_this_host(
    moto: Server, tmp_path: Path, name: str
) -> None:
    moto.make_bucket(name)
    assert moto.app
    refusal = Fault("PUT", f"/{name}/hybridwrap-bootstrap-probe", 500, "InternalError")
    moto.app.faults.append(refusal)
    project = project_on(moto, tmp_path, name)
    assert project.call("bootstrap", "--yes").code == 0
    again = project.call("bootstrap")
    assert (again.code, "encryption     not supported by this server" in again.out) == (0, True), again.text
    moto.app.faults.clear()
    assert project.call("bootstrap", "--yes").code == 0
    assert encryption_of(moto, name) == {"SSEAlgorithm": "AES256"}, "asked for once more, it is tried once more"


def test_programs_are_told_everything_and_asked_nothing(moto: Server, tmp_path: Path, name: str) -> None:
    project = project_on(moto, tmp_path, name)

    def told(*options: str, code: int = 0) -> dict[str, Any]:
        ran = project.call("bootstrap", "--json", *options)
        assert ran.code == code, ran.text
        Draft202012Validator(load_schema("bootstrap.v1")).validate(ran.json)
        (bucket,) = ran.json["buckets"]
        return {"made": bucket["made"], **{each["name"]: each for each in bucket["settings"]}}

    made = told()
    assert (made["made"], made["versioning"]["changed"], made["versioning"]["now"]) == (True, True, "on")
    moto.client().put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Suspended"})
    left = told(code=64)
    assert (left["made"], left["versioning"]["changed"], left["versioning"]["as_it_should_be"]) == (False, False, False)
    assert told("--yes")["versioning"]["changed"]
    assert not told()["versioning"]["changed"]


def test_on_a_real_server_what_it_lacks_is_said_and_the_bucket_works(
    seaweedfs: Server, tmp_path: Path, name: str
) -> None:
    project = project_on(seaweedfs, tmp_path, name)
    ran = project.call("bootstrap")
    assert ran.code == 0, ran.text
    assert "not supported by this server" in ran.out
    assert project.call("bootstrap").code == 0, "what it could not do is not offered again"
    ran = project.apply()
    assert ran.code == 0, ran.text
    assert project.call("bootstrap", "--yes").code == 0, "tried once more, and as before"
    assert project.statuses() == {"docs": "ok"}


def test_a_server_that_takes_an_encryption_that_it_cannot_do_gets_the_old_setting_back(moto: Server, name: str) -> None:
    moto.make_bucket(name)
    assert moto.app
    moto.app.faults.append(Fault("PUT", f"/{name}/hybridwrap-bootstrap-probe", 500, "InternalError"))
    bucket = Bucket(settings_on(moto, name), Wishes(tls_only=False))
    (difference,) = [each for each in bucket.differences() if each.setting.name == "encryption"]
    assert bucket.change(difference) == UNSUPPORTED
    assert difference.now == "none"
    (again,) = [each for each in bucket.differences() if each.setting.name == "encryption"]
    assert again.now == "none"


def test_a_key_that_we_may_not_use_is_refused_before_anything_depends_on_it(moto: Server, name: str) -> None:
    moto.make_bucket(name)
    assert moto.app
    fault = Fault("PUT", "/hybridwrap-bootstrap-probe", 403, "AccessDenied", "not authorized: kms:GenerateDataKey")
    moto.app.faults.append(fault)
    bucket = Bucket(settings_on(moto, name), Wishes("alias/theirs", tls_only=False))
    (difference,) = [each for each in bucket.differences() if each.setting.name == "encryption"]
    with pytest.raises(LedgerUnreachable, match="kms:GenerateDataKey"):
        bucket.change(difference)
    assert [each.now for each in bucket.differences() if each.setting.name == "encryption"] == ["none"]


def test_what_is_refused_is_said_with_the_permission(moto: Server, tmp_path: Path, name: str) -> None:
    assert moto.app
    moto.app.faults.append(Fault("PUT", f"^/{name}/?$", 403, "AccessDenied", "no"))
    ran = project_on(moto, tmp_path, name).run("bootstrap")
    assert ran.code == 30
    assert "no permission for s3:CreateBucket" in ran.err


def test_a_name_that_somebody_else_has_is_said(moto: Server, name: str) -> None:
    assert moto.app
    moto.app.faults.append(Fault("PUT", f"^/{name}/?$", 409, "BucketAlreadyExists"))
    with pytest.raises(PreflightRefused, match="somebody else has a bucket of that name"):
        Bucket(settings_on(moto, name), Wishes()).make()


def test_a_manifest_without_a_bucket_says_what_to_write(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("version: 1\nstack: shop\nmodules: {}\n")
    ran = project.call("bootstrap")
    assert ran.code == 10
    assert "state: {s3:" in ran.err


def test_who_speaks_without_tls_does_not_lock_himself_out(moto: Server, tmp_path: Path, name: str) -> None:
    ran = project_on(moto, tmp_path, name).run("bootstrap")
    assert ran.code == 0
    assert "connections" not in ran.out
    moto.client().put_object(Bucket=name, Key="key", Body=b"")

    over_http = Bucket(settings_on(moto, name), Wishes(tls_only=True))
    (tls,) = [difference for difference in over_http.differences() if difference.setting.name == "connections"]
    over_http.change(tls)
    policy = json.loads(moto.client().get_bucket_policy(Bucket=name)["Policy"])
    assert [statement["Sid"] for statement in policy["Statement"]] == ["HybridwrapTlsOnly"]


OTHER = {
    "Sid": "Logs",
    "Effect": "Allow",
    "Principal": {"Service": "logging"},
    "Action": "s3:PutObject",
    "Resource": ARN,
}
DENIES = json.loads(with_tls("", ARN))["Statement"][0]


def policy(*statements: object) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def test_a_policy_keeps_all_its_other_statements() -> None:
    told = json.loads(with_tls(policy(OTHER), ARN))
    assert told["Statement"][0] == OTHER
    assert with_tls(with_tls(policy(OTHER), ARN), ARN) == with_tls(policy(OTHER), ARN)
    assert json.loads(with_tls(json.dumps({"Statement": OTHER}), ARN))["Statement"][0] == OTHER


@pytest.mark.parametrize(
    ("statement", "demands"),
    [
        (DENIES, True),
        ({**DENIES, "Sid": "Mine", "Principal": {"AWS": "*"}, "Action": ["s3:*"]}, True),
        ({**DENIES, "Action": "*", "Resource": "*", "Condition": {"Bool": {"aws:SecureTransport": False}}}, True),
        ({**DENIES, "Effect": "Allow"}, False),
        ({**DENIES, "Action": "s3:GetObject"}, False),
        ({**DENIES, "Resource": ARN}, False),
        ({**DENIES, "Principal": {"AWS": "arn:aws:iam::1:root"}}, False),
        ({**DENIES, "Condition": {"Bool": {"aws:SecureTransport": "true"}}}, False),
        ({**DENIES, "Condition": {**DENIES["Condition"], "StringEquals": {"aws:SourceVpc": "vpc-1"}}}, False),
        (OTHER, False),
    ],
)
def test_only_a_statement_that_denies_everything_to_everybody_without_tls_counts(
    statement: object, demands: bool
) -> None:
    assert demands_tls(policy(statement), ARN) is demands
    assert demands_tls(policy(OTHER, statement), ARN) is demands
    assert not demands_tls("", ARN)
