"""A ledger's own identity: keys of a profile that expire are made anew by the SDK while a run goes on."""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path

import pytest

from hybridwrap.adapters.s3_connection import S3Settings
from hybridwrap.adapters.s3_store import S3Store
from tests.support.s3_servers import REGION, Server

_buckets = count()
EXPIRING = """
import datetime, json, pathlib, sys
asked = pathlib.Path(sys.argv[1])
with asked.open("a") as calls:
    calls.write("asked\\n")
until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=1)
number = len(asked.read_text().splitlines())
keys = {"AccessKeyId": f"AKIA{number}", "SecretAccessKey": "x", "SessionToken": "y", "Expiration": until.isoformat()}
print(json.dumps({"Version": 1, **keys}))
"""


def test_keys_that_expire_within_minutes_are_made_anew_for_writes_reads_and_listings(
    moto: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "keys.py").write_text(EXPIRING)
    command = f"{sys.executable} {tmp_path / 'keys.py'} {tmp_path / 'asked'}"
    (tmp_path / "config").write_text(f"[profile keeper]\ncredential_process = {command}\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    settings = S3Settings(moto.make_bucket(f"keeper-{next(_buckets)}"), "", REGION, "keeper", moto.endpoint, True)
    store = S3Store(settings)
    assert moto.app
    moto.app.callers.clear()
    store.create("key", b"content")
    for _ in range(2):
        assert store.read("key") == b"content"
    assert [listed.key for listed in store.list("")] == ["key"]
    used = [key for key, _ in moto.app.callers]
    assert len(set(used)) == len(used) >= 4, "each request was signed with keys of its own"
    assert "AKIATESTONLY" not in used, "a profile that is named beats the keys of the environment"
