"""A damaged ledger in a bucket with versioning is put back from the versions, on a real S3 server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import s3_servers
from tests.support.project import Project
from tests.support.s3_servers import Server

pytestmark = pytest.mark.e2e

BUCKET = "ledger-repair"
PREFIX = "hybridwrap/v1/shop/default/"
MANIFEST = """\
version: 1
stack: shop
ledger:
  s3: {{bucket: {bucket}, prefix: hybridwrap/, region: us-east-1, endpoint: "{endpoint}", use_path_style: true}}
modules:
  net:  {{source: net}}
  docs: {{source: docs}}
"""
MADE = 'resource "terraform_data" "it" {}\n'


def test_what_somebody_altered_and_deleted_in_the_bucket_is_put_back_from_its_versions(
    seaweedfs: Server, tmp_path: Path
) -> None:
    client, bucket = seaweedfs.client(), seaweedfs.make_bucket(BUCKET)
    client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    project = Project(tmp_path, s3_servers.environment())
    project.write(MANIFEST.format(bucket=bucket, endpoint=seaweedfs.endpoint), net=MADE, docs=MADE)
    assert project.apply().code == 0
    first, second = (f"{PREFIX}log/net/{seq:08}.json" for seq in (1, 2))
    written = {key: client.get_object(Bucket=bucket, Key=key)["Body"].read() for key in (first, second)}
    client.put_object(Bucket=bucket, Key=first, Body=written[first].replace(b'"apply"', b'"reply"'))
    client.delete_object(Bucket=bucket, Key=second)
    client.delete_object(Bucket=bucket, Key=f"{PREFIX}head/net.json")
    client.put_object(Bucket=bucket, Key=second, Body=b"<html>")

    status = project.run("status")
    assert status.code == 33, status.text
    assert "docs    ok" in status.out
    assert "its log is damaged: entry 2: not JSON" in status.out
    verified = project.run("ledger", "verify", "--json")
    assert {f"hybridwrap/{damaged['key']}" for damaged in verified.json["objects"]} == {second}, verified.text

    shown = project.run("ledger", "repair", "net")
    assert shown.code == 33, shown.text
    assert "next: hybridwrap ledger repair net --yes" in shown.err
    listed = project.run("ledger", "repair", "net", "--json")
    assert (listed.code, listed.json["version"]) == (33, 1)
    (last,) = listed.err.splitlines()
    assert json.loads(last)["hint"] == "hybridwrap ledger repair net --yes"
    objects = {f"hybridwrap/{each['key']}": each for each in listed.json["objects"]}
    assert set(objects) == {first, second}
    assert {(bool(each["proof"]), each["put_back"], each["module"]) for each in objects.values()} == {
        (True, False, "net")
    }
    repaired = project.run("ledger", "repair", "net", "--yes")
    assert (repaired.code, repaired.out.splitlines()[-1]) == (0, "net  2 put back; sound"), repaired.text
    assert {key: client.get_object(Bucket=bucket, Key=key)["Body"].read() for key in written} == written
    assert project.statuses() == {"net": "ok", "docs": "ok"}
    sound = project.run("ledger", "repair", "--yes", "--json")
    assert (sound.code, sound.json) == (0, {"version": 1, "modules": {"docs": [], "net": []}, "objects": []})
    again = project.apply()
    assert (again.code, "2 unchanged" in again.text) == (0, True), again.text
