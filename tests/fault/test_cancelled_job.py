"""A CI system cancels a job, by the signals that it sends to the job's shell, which `exec`s hybridwrap.

GitHub: SIGINT to the entry process, SIGTERM 7.5 s later, then the process tree is killed
(docs.github.com/en/actions/reference/workflow-cancellation-reference). Kubernetes, and with it Argo and GitLab's
executor for it: SIGTERM, then SIGKILL.
"""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.faults import Operation
from tests.support.lost_runner import kill_engines, ledger_of, until_said, wait_until
from tests.support.project import Project, wait

pytestmark = pytest.mark.e2e


@contextmanager
def job_at_work(project: Project, cloud: Cloud) -> Iterator[subprocess.Popen[str]]:
    """A step of a job whose engine waits for the cloud; at the end of the block it gets its answer."""
    cloud.inject("gate", "hang")
    python = shlex.quote(sys.executable)
    step = f"set -e\nexec {python} -m hybridwrap apply --auto-approve network\n"
    process = subprocess.Popen(
        ["/bin/bash", "-c", step],
        cwd=project.root,
        env={**project.env, "CI": "true", "HYBRIDWRAP_RUN": "gh-7"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        wait_until(lambda: bool(cloud.calls(Operation.CREATE, name="gate")) or process.poll() is not None)
        assert process.poll() is None, process.communicate()
        yield process
    finally:
        cloud.lift("gate")


@pytest.mark.parametrize(
    ("signals", "code"),
    [((signal.SIGINT, signal.SIGTERM), 130), ((signal.SIGTERM,), 143)],
    ids=["GitHub", "Kubernetes"],
)
def test_a_cancelled_job_interrupts_its_engine_once_and_records_how_it_ended(
    on_s3: Project, cloud: Cloud, signals: Sequence[signal.Signals], code: int
) -> None:
    with job_at_work(on_s3, cloud) as job:
        for number, said in zip(signals, ("gracefully", "still waiting"), strict=False):
            job.send_signal(number)
            until_said(job, said, stream=job.stderr)
        cloud.wait_for_calls(Operation.STOP)
    ran = wait(job)

    assert ran.code == code, ran.text
    assert len(cloud.calls(Operation.STOP)) == 1
    record = ledger_of(on_s3).record("network")
    assert (record.status, record.outcome) == ("error", "interrupted")
    run = ledger_of(on_s3).run("gh-7")
    assert run.end is not None
    assert run.end.exit_code == code
    assert on_s3.run("sync").out == "nothing is left to finish on this host\n"


def test_what_a_job_leaves_that_is_killed_in_the_end_is_finished_by_its_always_step(
    on_s3: Project, cloud: Cloud
) -> None:
    with job_at_work(on_s3, cloud) as job:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            job.send_signal(number)
        job.wait()
        kill_engines(on_s3)  # they are in the process tree that the runner kills
    assert ledger_of(on_s3).record("network").status == "running"

    step = on_s3.run("sync")

    assert "finished what apply" in step.text
    assert step.code == 0, step.text
    record = ledger_of(on_s3).record("network")
    assert (record.status, record.holder) == ("unknown", None)
    assert ledger_of(on_s3).verify("network") == []
