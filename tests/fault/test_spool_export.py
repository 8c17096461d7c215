"""The ledger can't be told, and the machine is about to go: what it knows goes with an always-step of the job."""

from __future__ import annotations

import json
import shutil
import stat

import pytest

from tests.support.fakecloud.cloud import Cloud
from tests.support.lost_runner import hanging, ledger_of
from tests.support.project import Project, wait
from tests.support.s3_servers import Fault, Server

pytestmark = pytest.mark.e2e
KEY = {"SPOOL_KEY": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}


def kinds(project: Project) -> list[str]:
    return [str(entry.kind) for entry in ledger_of(project).history("network")]


def encrypt(project: Project) -> None:
    """Have the ledger encrypt its blobs."""
    manifest = project.root / "hybridwrap.yaml"
    manifest.write_text(manifest.read_text() + "ledger: {encryption: {key_from_env: SPOOL_KEY}}\n")
    project.environ = {**project.environ, **KEY}


@pytest.mark.parametrize("encrypted", [False, True], ids=["plain", "encrypted"])
def test_a_result_leaves_a_machine_that_goes_and_is_told_from_another_one(
    on_s3: Project, cloud: Cloud, moto: Server, monkeypatch: pytest.MonkeyPatch, encrypted: bool
) -> None:
    if encrypted:
        encrypt(on_s3)
        monkeypatch.setenv("SPOOL_KEY", KEY["SPOOL_KEY"])
    with hanging(on_s3, cloud, "gate", "network") as process:
        assert moto.app
        moto.app.faults.append(Fault("GET|PUT", "/hybridwrap/v1/shop/", 403, "AccessDenied"))
    ran = wait(process)
    assert ran.code == 34, ran.text

    saved = on_s3.run("sync", "--export", "left.json")  # the job's always-step
    assert saved.code == 34, saved.text
    assert "left.json has the results of network; next: hybridwrap sync --from left.json" in saved.out
    file = on_s3.root / "left.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    if encrypted:
        assert b"fakecloud" not in file.read_bytes()
    else:
        assert [each["result"]["module"] for each in json.loads(file.read_bytes())["results"]] == ["network"]
    shutil.rmtree(on_s3.root / ".hybridwrap" / "operations")  # the machine is gone
    moto.app.faults.clear()
    assert kinds(on_s3) == ["begin"]

    for _ in range(2):  # and once more, by somebody who does not know
        sent = on_s3.run("sync", "--from", "left.json")
        assert sent.code == 0, sent.text
        assert "network: the result of" in sent.text
    assert kinds(on_s3) == ["begin", "end"]
    assert ledger_of(on_s3).verify("network") == []
    assert ledger_of(on_s3).record("network").status == "ok"


def test_where_nothing_is_left_no_file_is_written_and_what_is_none_is_refused(on_s3: Project) -> None:
    saved = on_s3.run("sync", "--export", "left.json")
    assert (saved.code, saved.out) == (0, "nothing is left to finish on this host\n")
    assert not (on_s3.root / "left.json").exists()
    (on_s3.root / "left.json").write_text("[]")
    refused = on_s3.run("sync", "--from", "left.json")
    assert refused.code == 64, refused.text
    assert "is no file of `sync --export`" in refused.text
    assert on_s3.run("sync", "--from", "left.json", "--export", "x").code == 64
