"""`doctor` on S3 with each permission taken away in turn: the one that is missing is named, with what it breaks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from hybridwrap.adapters.checks.bucket import check_bucket
from hybridwrap.adapters.s3_connection import S3Connection, S3Settings
from hybridwrap.adapters.schemas import load_schema
from tests.support import s3_servers
from tests.support.project import Project
from tests.support.s3_servers import Fault, Server

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
{state}
modules:
  docs: {{source: docs}}
"""
DOCS = 'resource "terraform_data" "docs" {}\n'
_buckets = count()


def project_on(server: Server, root: Path, bucket: str) -> Project:
    project = Project(root, {**s3_servers.environment(), "HOME": str(root)})
    project.write(STACK.format(state=server.state(bucket)), docs=DOCS)
    return project


@pytest.fixture
def bucket() -> str:
    return f"doctor-{next(_buckets)}"


@pytest.fixture
def on_moto(moto: Server, tmp_path: Path, bucket: str) -> Iterator[Project]:
    moto.make_bucket(bucket)
    yield project_on(moto, tmp_path, bucket)
    assert moto.app
    moto.app.faults.clear()


def checked(project: Project, code: int) -> dict[str, list[dict[str, Any]]]:
    """The checks by subject."""
    ran = project.call("doctor", "--json")
    assert ran.code == code, ran.text
    Draft202012Validator(load_schema("doctor.v1")).validate(ran.json)
    assert ran.json["exit_code"] == code
    found: dict[str, list[dict[str, Any]]] = {}
    for check in ran.json["checks"]:
        found.setdefault(check["subject"], []).append(check)
    return found


def verdicts(found: dict[str, list[dict[str, Any]]], subject: str) -> list[str]:
    return [check["verdict"] for check in found[subject]]


def everything_in(server: Server, bucket: str) -> list[str]:
    """Keys of all objects, versions and delete marks."""
    client = server.client()
    keys = [item["Key"] for item in client.list_objects_v2(Bucket=bucket).get("Contents", [])]
    page = client.list_object_versions(Bucket=bucket)
    return keys + [item["Key"] for kind in ("Versions", "DeleteMarkers") for item in page.get(kind, [])]


@pytest.mark.parametrize("name", ["moto", "seaweedfs"])
def test_a_bucket_where_all_is_allowed_has_no_problem_and_nothing_is_left_in_it(
    name: str, request: pytest.FixtureRequest, tmp_path: Path, bucket: str
) -> None:
    server: Server = request.getfixturevalue(name)
    server.make_bucket(bucket)
    found = checked(project_on(server, tmp_path, bucket), 0)
    for subject in ("clock", "bucket", "s3:ListBucket", "s3:GetObject", "s3:DeleteObject", "s3:PutObject"):
        assert set(verdicts(found, subject)) == {"ok"}, subject
    assert verdicts(found, "conditional writes") == verdicts(found, "state lock") == ["ok"]
    assert "none yet" in found["ledger"][0]["text"], "and it was not made"
    assert verdicts(found, "versioning") == ["warning"]
    assert everything_in(server, bucket) == []


def test_where_old_versions_are_kept_not_even_those_of_a_probe_are_left(
    on_moto: Project, moto: Server, bucket: str
) -> None:
    moto.client().put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    assert verdicts(checked(on_moto, 0), "versioning") == ["ok"]
    assert everything_in(moto, bucket) == []


@pytest.mark.parametrize(
    ("fault", "subject", "breaks", "allow"),
    [
        (Fault("GET", "^/{bucket}/?$"), "s3:ListBucket", "neither status nor any log can be read", ""),
        (Fault("GET", "/ledger.json$"), "s3:GetObject", "nothing of the ledger can be read", "ledger.json"),
        (Fault("PUT", "/log/"), "s3:PutObject", "no operation can begin", "/log/*"),
        (Fault("PUT", "/head/"), "s3:PutObject", "nobody would see it", "/head/*"),
        (Fault("PUT", "/runs/"), "s3:PutObject", "their run can't be recorded", "/runs/*"),
        (Fault("PUT", "/probe/"), "conditional writes", "no permission for s3:PutObject", "s3:PutObject"),
        (Fault("GET", "/shop/default/hybridwrap-"), "s3:GetObject", "no state can be read", "shop/default/*"),
        (Fault("DELETE", "tflock$"), "s3:DeleteObject", "locks stay behind", "shop/default/*.tflock"),
        (Fault("PUT", "shop/default/.*tflock$"), "s3:PutObject", "no state can be locked", "shop/default/*.tflock"),
        (
            Fault("PUT", "shop/default/hybridwrap-doctor-[^/.]*$"),
            "s3:PutObject",
            "can't save its state",
            "shop/default/*",
        ),
    ],
    ids=lambda value: value.path if isinstance(value, Fault) else "",
)
def test_a_permission_that_is_missing_is_named_with_what_it_breaks_and_what_to_allow(
    on_moto: Project, moto: Server, bucket: str, fault: Fault, subject: str, breaks: str, allow: str
) -> None:
    assert moto.app
    moto.app.faults.append(Fault(fault.method, fault.path.replace("{bucket}", bucket), 403, "AccessDenied", "denied"))
    found = checked(on_moto, 30)
    (bad,) = [check for check in found[subject] if check["verdict"] == "problem"]
    assert breaks in bad["text"]
    assert allow in bad["fix"]
    moto.app.faults.clear()
    assert everything_in(moto, bucket) == []


def test_where_nothing_may_be_deleted_nothing_is_written(on_moto: Project, moto: Server, bucket: str) -> None:
    assert moto.app
    moto.app.faults.append(Fault("DELETE", ".*", 403, "AccessDenied"))
    moto.app.requests.clear()
    found = checked(on_moto, 30)
    assert verdicts(found, "s3:DeleteObject") == ["warning", "problem"], "a ledger can do without, a lock can't"
    assert verdicts(found, "s3:PutObject") == ["warning", "warning"]
    assert [method for method, _ in moto.app.requests if method == "PUT"] == []
    assert everything_in(moto, bucket) == []


def test_a_store_that_lets_two_writers_win_is_no_place_for_a_ledger_nor_a_lock(
    on_moto: Project, moto: Server, bucket: str
) -> None:
    assert moto.app
    moto.app.conditional = False
    try:
        found = checked(on_moto, 30)
    finally:
        moto.app.conditional = True
    assert [check["verdict"] for check in found["conditional writes"]] == ["problem", "problem"]
    assert "is not fit for a ledger" in found["conditional writes"][0]["text"]
    assert everything_in(moto, bucket) == []


def test_a_missing_permission_on_the_key_of_the_bucket_is_told_from_one_on_the_bucket(
    on_moto: Project, moto: Server
) -> None:
    assert moto.app
    message = "not authorized to perform: kms:GenerateDataKey"
    moto.app.faults.append(Fault("PUT", "/log/", 403, "AccessDenied", message))
    (bad,) = [check for check in checked(on_moto, 30)["s3:PutObject"] if check["verdict"] == "problem"]
    assert "the bucket's KMS key" in bad["text"]


@pytest.mark.parametrize(
    ("status", "code", "headers", "subject", "told"),
    [
        (404, "NoSuchBucket", {}, "bucket", "there is no such bucket"),
        (403, "AccessDenied", {"x-amz-bucket-region": "eu-central-1"}, "region", "is in eu-central-1"),
    ],
)
def test_a_bucket_that_is_not_there_or_elsewhere_is_said_once(
    on_moto: Project, moto: Server, status: int, code: str, headers: dict[str, str], subject: str, told: str
) -> None:
    assert moto.app
    moto.app.faults.append(Fault("HEAD", ".*", status, code, headers=headers))
    found = checked(on_moto, 30)
    assert told in found[subject][-1]["text"]
    assert found[subject][-1]["fix"]
    assert "s3:PutObject" not in found, "nothing else of it can be told"


@pytest.mark.parametrize(("minutes", "verdict"), [(0, "ok"), (5, "warning"), (-5, "warning"), (-20, "problem")])
def test_clocks_that_differ_are_said_before_s3_refuses(moto: Server, bucket: str, minutes: int, verdict: str) -> None:
    settings = S3Settings(moto.make_bucket(bucket), region="us-east-1", endpoint=moto.endpoint, path_style=True)
    now = datetime.now(UTC) + timedelta(minutes=minutes)
    found = {finding.subject: finding for finding in check_bucket(S3Connection(settings), settings, now)}
    assert found["clock"].verdict == verdict
    assert ("ahead of" in found["clock"].text) == (minutes > 0)


def test_a_server_that_does_not_answer_is_said(on_moto: Project, tmp_path: Path) -> None:
    with s3_servers.nobody() as address:
        (on_moto.root / "hybridwrap.yaml").write_text(STACK.format(state=Server(address).state("any")))
        found = checked(on_moto, 30)
    assert "look at network" in found["bucket"][-1]["fix"]


def test_without_a_manifest_the_machine_is_looked_at_and_nothing_is_made(tmp_path: Path) -> None:
    project = Project(tmp_path)
    ran = project.call("doctor")
    assert ran.code == 0, ran.text
    assert "hybridwrap new" in ran.out
    assert "engine" in ran.out
    assert list(tmp_path.iterdir()) == []


def test_a_manifest_that_is_wrong_is_one_problem_among_others(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("version: 1\nstack: shop\nmodules: {docs: {source: nowhere}}\n")
    ran = project.call("doctor")
    assert ran.code == 10
    assert "no folder nowhere" in ran.out
    assert "flock" in ran.out


def test_an_engine_that_a_module_does_not_allow_is_a_problem(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write(
        "version: 1\nstack: shop\nengine: {version: '>= 99'}\nmodules: {docs: {source: docs}, web: {source: docs}}\n",
        docs=DOCS,
    )
    ran = project.call("doctor")
    assert ran.code == 40
    assert "needs Terraform >= 99" in ran.out
    assert "engine.version in the manifest" in ran.out
