"""hybridwrap dies at each boundary of an operation, by an exception and by SIGKILL: the next command puts it right."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import asdict, dataclass  # noqa: TID251  of a dataclass
from pathlib import Path

import pytest

from tests.fault.conftest import Score
from tests.fault.soundness import Measured, measure
from tests.support.fakecloud.cloud import Cloud
from tests.support.lost_runner import NETWORK, engines_of, ledger_of, lose_host, wait_until
from tests.support.project import Project

pytestmark = pytest.mark.e2e
REPOSITORY = Path(__file__).parents[2]

NOTHING: tuple[str, ...] = ()
BEGUN = ("begin",)
ENDED = ("begin", "end")


@dataclass(frozen=True)
class Row:
    """A boundary; what the log has and `status` says right after the crash, and after the next command."""

    point: str
    log: tuple[str, ...]
    status: str
    log_then: tuple[str, ...]
    status_then: str
    status_of_ok: str = ""  # right after the crash, for a module that was ok before; "": the same


BEFORE_BEGIN = (NOTHING, "pending", NOTHING, "pending")
NOTHING_RAN = (BEGUN, "running", ENDED, "pending")
DONE = (BEGUN, "running", ENDED, "ok")
RECORDED = (ENDED, "ok", ENDED, "ok")
ROWS = (
    Row("the plan is made", *BEFORE_BEGIN),
    Row("the claim is kept", *BEFORE_BEGIN),
    Row("begin is on its way", *BEFORE_BEGIN),
    Row("begin is stored, its answer lost", *NOTHING_RAN, status_of_ok="pending"),  # its head is at rest
    Row("begin is stored, its head is not", *NOTHING_RAN, status_of_ok="pending"),
    Row("begin is stored, the engine not started", *NOTHING_RAN),
    Row("the engine is at work", *DONE),
    Row("the engine has ended", *DONE),
    Row("the state is read again", *DONE),
    Row("the result is kept", *DONE),
    Row("end is on its way", *DONE),
    Row("end is stored, its answer lost", *RECORDED),  # readers look behind a head that claims danger
    Row("end is stored, its head is not", *RECORDED),
    Row("the business is closed", *RECORDED),
    Row("the end of the run is on its way", *RECORDED),
)
SAMPLE = {"begin is stored, its head is not", "the engine is at work", "the result is kept"}


def boundaries() -> list[object]:
    def marked(row: Row, how: str) -> tuple[pytest.MarkDecorator, ...]:
        return () if row.point in SAMPLE and how == "kill" else (pytest.mark.matrix,)

    return [
        pytest.param(row, how, marks=marked(row, how), id=f"{row.point}-{how}")
        for row in ROWS
        for how in ("exception", "kill")
    ]


def drive(
    project: Project, point: str, how: str = "kill", command: str = "apply", **environ: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.fault.crashing", point, how, command],
        cwd=project.root,
        env={**project.env, "PYTHONPATH": str(REPOSITORY), **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def crash(project: Project, point: str, how: str, command: str = "apply", **environ: str) -> float:
    """Run a command that dies at the point; return the moment when it was found dead."""
    ran = drive(project, point, how, command, **environ)
    assert ran.returncode == (-9 if how == "kill" else 1), ran.stdout + ran.stderr
    assert how == "kill" or ran.stderr.splitlines()[-1].endswith("Crash"), ran.stderr
    return time.monotonic()


def log_of(project: Project) -> tuple[str, ...]:
    return tuple(entry.kind for entry in ledger_of(project).history("network"))


def check_boundary(project: Project, cloud: Cloud, row: Row, how: str) -> float:
    """Crash, look, let the next command put it right; return how long that took. Then everything converges."""
    before = log_of(project)
    died = crash(project, row.point, how)
    if row.point != "the engine is at work":
        expected = (row.status_of_ok if before else "") or row.status
        assert project.statuses()["network"] == expected
        assert log_of(project) == (*before, *row.log), "looking writes nothing"
    synced = project.run("sync")
    seconds = time.monotonic() - died
    assert synced.code == 0, synced.text
    assert project.statuses()["network"] == row.status_then
    assert log_of(project) == (*before, *row.log_then)
    wait_until(lambda: not engines_of(project))
    converge(project)
    assert project.run("sync").out.endswith("nothing is left to finish on this host\n")
    return seconds


def converge(project: Project) -> None:
    ran = project.apply()
    assert ran.code == 0, ran.text
    assert set(project.statuses().values()) == {"ok"}
    assert project.run("plan", "--detailed-exitcode").code == 0


@pytest.mark.parametrize(("row", "how"), boundaries())
def test_a_crash_in_a_first_apply(project: Project, cloud: Cloud, row: Row, how: str, score: Score) -> None:
    seconds = check_boundary(project, cloud, row, how)
    measured = measure(project, cloud)
    score.add(boundary=f"{row.point}, {how}", seconds=seconds if how == "kill" else None, **asdict(measured))
    assert measured == Measured()


@pytest.mark.matrix
@pytest.mark.parametrize("how", ["exception", "kill"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.point)
def test_a_crash_in_a_later_apply(on_s3: Project, cloud: Cloud, row: Row, how: str, score: Score) -> None:
    converge(on_s3)
    (on_s3.root / "network/main.tf").write_text(NETWORK.replace("tags = {", 'tags = { size = "large",'))
    seconds = check_boundary(on_s3, cloud, row, how)
    assert cloud.only("gate").attributes["tags"] == {"network": cloud.only("net").id, "size": "large"}
    measured = measure(on_s3, cloud)
    score.add(boundary=f"later: {row.point}, {how}", seconds=seconds if how == "kill" else None, **asdict(measured))
    assert measured == Measured()


TAKEOVERS = {
    "takeover is on its way": (),
    "takeover is stored, its answer lost": ("takeover",),
    "takeover is stored, nothing else": ("takeover",),
    "the end of a takeover is on its way": ("takeover",),
}


@pytest.mark.matrix
@pytest.mark.parametrize("how", ["exception", "kill"])
@pytest.mark.parametrize("point", TAKEOVERS)
def test_a_crash_of_a_taker(on_s3: Project, cloud: Cloud, point: str, how: str, score: Score) -> None:
    lose_host(on_s3, cloud)
    held = ledger_of(on_s3).record("network").operation

    died = crash(on_s3, point, how, "unlock")

    assert on_s3.statuses()["network"] == "running"
    assert log_of(on_s3) == ("begin", *TAKEOVERS[point])
    synced = on_s3.run("sync")
    seconds = time.monotonic() - died
    assert synced.code == 0, synced.text
    if not TAKEOVERS[point]:
        assert on_s3.run("unlock", "network", "--operation", held, "--reason", "still dead").code == 0
    assert log_of(on_s3) == ("begin", "takeover", "end")
    record = ledger_of(on_s3).record("network")
    assert record.status == "unknown", "the first operation's truth still counts"
    assert cloud.only("net").id in {o.id for o in record.objects}
    assert on_s3.apply("network").code == 32
    measured = measure(on_s3, cloud)
    score.add(boundary=f"{point}, {how}", seconds=seconds if how == "kill" else None, **asdict(measured))
    assert measured == Measured()


@pytest.mark.matrix
@pytest.mark.parametrize("how", ["exception", "kill"])
@pytest.mark.parametrize(
    ("point", "status"), [("the command is not started", "pending"), ("the command has ended", "error")]
)
def test_a_crash_of_an_engine_command(project: Project, cloud: Cloud, point: str, status: str, how: str) -> None:
    converge(project)
    crash(project, point, how, "taint")
    assert project.statuses()["network"] == "running"
    synced = project.run("sync")
    assert synced.code == 0, synced.text
    assert project.statuses()["network"] == ("ok" if status == "pending" else status)
    converge(project)
    assert measure(project, cloud) == Measured()


@pytest.mark.matrix
def test_a_host_that_restarted_meanwhile_may_have_lost_the_last_events(project: Project, cloud: Cloud) -> None:
    crash(project, "begin is stored, the engine not started", "kill", BOOT="an earlier one")
    assert project.run("sync").code == 0
    record = ledger_of(project).record("network")
    assert record.status == "unknown", "that the event file is empty proves nothing here"


@pytest.mark.matrix
@pytest.mark.parametrize("minutes", ["-20", "20"])
def test_a_wrong_clock_changes_no_order(project: Project, cloud: Cloud, minutes: str) -> None:
    converge(project)
    (project.root / "network/main.tf").write_text(NETWORK.replace("tags = {", 'tags = { size = "large",'))
    assert drive(project, "nowhere", SKEW=minutes).returncode == 0
    assert project.statuses()["network"] == "ok"
    (project.root / "network/main.tf").write_text(NETWORK)
    converge(project)
    assert log_of(project) == ENDED * 3
    assert measure(project, cloud) == Measured()
