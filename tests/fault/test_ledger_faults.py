"""The ledger's store fails while an operation is under way; state and ledger lie in one bucket."""

from __future__ import annotations

import shutil
from dataclasses import asdict  # noqa: TID251  of a dataclass
from pathlib import Path

import pytest

from tests.fault.conftest import Score
from tests.fault.soundness import Measured, measure
from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.faults import Operation
from tests.support.lost_runner import hanging, ledger_of
from tests.support.project import Project, wait
from tests.support.s3_servers import Fault, Server

pytestmark = pytest.mark.e2e
LEDGER = "/hybridwrap/v1/shop/"
BEGIN, END = "/log/network/00000001", "/log/network/00000002"


def inject(server: Server, fault: Fault) -> None:
    assert server.app
    server.app.faults.append(fault)


def lift(server: Server) -> None:
    assert server.app
    server.app.faults.clear()


def log_of(project: Project) -> list[str]:
    return [str(entry.kind) for entry in ledger_of(project).history("network")]


def check_sound(project: Project, cloud: Cloud, score: Score, what: str) -> None:
    measured = measure(project, cloud)
    score.add(boundary=what, **asdict(measured))
    assert measured == Measured()


@pytest.fixture
def unsent(on_s3: Project, cloud: Cloud, moto: Server) -> Project:
    """The ledger can't be reached from the engine's work on."""
    with hanging(on_s3, cloud, "gate", "network") as process:
        inject(moto, Fault("GET|PUT", LEDGER, 403, "AccessDenied"))
    ran = wait(process)
    assert ran.code == 34, ran.text
    assert "next: hybridwrap sync" in ran.text
    lift(moto)
    return on_s3


@pytest.mark.matrix
@pytest.mark.parametrize(
    "fault",
    [
        Fault("PUT", BEGIN, 409, "ConditionalRequestConflict", times=3),
        Fault("PUT", BEGIN, 503, "SlowDown", times=3),
        Fault("PUT", BEGIN, 500, times=1, store=True),
    ],
    ids=["409", "503", "answer lost"],
)
def test_a_begin_that_needs_more_than_one_try_is_one_begin(
    on_s3: Project, cloud: Cloud, moto: Server, score: Score, fault: Fault
) -> None:
    inject(moto, fault)
    ran = on_s3.apply("network")
    assert ran.code == 0, ran.text
    assert log_of(on_s3) == ["begin", "end"]
    assert len(cloud.calls(Operation.CREATE)) == 2
    check_sound(on_s3, cloud, score, f"begin: {fault.status}")


@pytest.mark.matrix
def test_an_end_whose_answer_was_lost_is_one_end(on_s3: Project, cloud: Cloud, moto: Server, score: Score) -> None:
    inject(moto, Fault("PUT", END, 500, times=1, store=True))
    ran = on_s3.apply("network")
    assert ran.code == 0, ran.text
    assert log_of(on_s3) == ["begin", "end"]
    check_sound(on_s3, cloud, score, "end: answer lost")


def test_a_result_that_the_ledger_could_not_be_told_is_safe_and_sent_by_the_next_command(
    unsent: Project, cloud: Cloud, tmp_path: Path, score: Score
) -> None:
    assert "safe on this host" in unsent.status()["network"]["reason"]
    elsewhere = Project(tmp_path / "elsewhere", unsent.environ)
    shutil.copytree(unsent.root, elsewhere.root, ignore=shutil.ignore_patterns(".hybridwrap"))
    assert elsewhere.statuses()["network"] == "running"
    assert log_of(unsent) == ["begin"]

    ran = unsent.apply()

    assert ran.code == 0, ran.text
    assert "left behind: network ok" in ran.text
    assert log_of(unsent) == ["begin", "end"]
    assert elsewhere.outputs()["network"]["ip"]["value"] == cloud.only("gate").attributes["ip"]
    check_sound(unsent, cloud, score, "result in the spool, ledger unreachable")


def test_a_result_is_sent_twice_and_from_a_copy_and_recorded_once(
    unsent: Project, cloud: Cloud, tmp_path: Path
) -> None:
    copy = Project(tmp_path / "copy", unsent.environ)
    shutil.copytree(unsent.root, copy.root)
    for project in (unsent, unsent, copy, copy):
        ran = project.run("sync")
        assert ran.code == 0, ran.text
        assert ran.out == "nothing is left to finish on this host\n"
    assert log_of(unsent) == ["begin", "end"]


def test_a_copy_of_a_dead_operation_is_no_evidence(on_s3: Project, cloud: Cloud, tmp_path: Path) -> None:
    with hanging(on_s3, cloud, "gate", "network") as process:
        copy = Project(tmp_path / "copy", on_s3.environ)
        shutil.copytree(on_s3.root, copy.root)
        on_s3.root.rename(tmp_path / "out of sight")
        ran = copy.run("sync")
        assert ran.code == 0, ran.text
        assert log_of(copy) == ["begin"], "the engine is at work in the original"
        assert copy.apply("network").code == 20
        (tmp_path / "out of sight").rename(on_s3.root)
    assert wait(process).code == 0
    assert log_of(copy) == ["begin", "end"]
    assert copy.run("sync").out == "nothing is left to finish on this host\n"
