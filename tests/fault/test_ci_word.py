"""A runner is lost for good, and its CI system knows: nobody has to be there."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from hybridwrap.domain.entry import Kind, Takeover
from tests.support.ci_server import TOKEN, CiServer, ci_server
from tests.support.fakecloud.cloud import Cloud
from tests.support.lost_runner import ledger_of, lose_host
from tests.support.project import Project

pytestmark = pytest.mark.e2e


@pytest.fixture
def server() -> Iterator[CiServer]:
    with ci_server() as served:
        yield served


def lost(project: Project, cloud: Cloud, server: CiServer, **job: str) -> Project:
    """A job of GitHub is lost with its machine while its engine is at work."""
    project.environ = {
        **project.environ,
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": server.address,
        "GITHUB_REPOSITORY": "acme/shop",
        "GITHUB_RUN_ID": "7",
        "GITHUB_RUN_ATTEMPT": "1",
        "RUNNER_NAME": "hosted-1",
        **job,
    }
    lose_host(project, cloud, sent=False)
    project.environ = {**project.environ, "GITHUB_TOKEN": TOKEN}
    return project


def kinds(project: Project) -> list[Kind]:
    return [entry.kind for entry in ledger_of(project).history("network")]


def test_the_next_apply_takes_over_from_a_job_that_has_ended_on_a_machine_that_is_thrown_away(
    on_s3: Project, cloud: Cloud, server: CiServer
) -> None:
    project = lost(on_s3, cloud, server, RUNNER_ENVIRONMENT="github-hosted")

    server.github_job(status="in_progress", completed_at=None)
    at_work = project.apply("network")
    assert at_work.code == 20, at_work.text
    assert "GitHub says of its job: in_progress" in at_work.text

    server.github_job(completed_at=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    too_soon = project.apply("network")
    assert too_soon.code == 20, too_soon.text
    assert "its machine may be there for up to 5m longer" in too_soon.text
    assert kinds(project) == [Kind.BEGIN]

    server.github_job()
    ran = project.apply("network")

    assert "GitHub says of its job: completed, cancelled; taking over from apply" in ran.text
    assert "released its own state lock" in ran.text
    assert ran.code == 32, ran.text
    assert kinds(project) == [Kind.BEGIN, Kind.TAKEOVER, Kind.END]
    taken = ledger_of(project).history("network")[1].body
    assert isinstance(taken, Takeover)
    assert taken.reason == "GitHub says of its job: completed, cancelled at 2026-01-01T00:00:00Z"
    assert ledger_of(project).record("network").status == "unknown"
    assert ledger_of(project).verify("network") == []


def test_a_lock_that_a_machine_of_ones_own_may_still_hold_is_left_to_a_person(
    on_s3: Project, cloud: Cloud, server: CiServer
) -> None:
    project = lost(on_s3, cloud, server)
    server.github_job()
    ran = project.apply("network")
    assert ran.code == 20, ran.text
    assert "its state is locked, and its machine may have gone on after the job" in ran.text
    assert kinds(project) == [Kind.BEGIN]
