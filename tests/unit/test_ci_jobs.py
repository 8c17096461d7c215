"""Asking GitHub and GitLab whether a job has ended: only their own word for it counts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hybridwrap.adapters import ci_jobs
from hybridwrap.adapters.ci_jobs import CiJobs, this_job
from hybridwrap.domain.ci import CiAnswer, CiJob
from tests.support.ci_server import TOKEN, CiServer, ci_server
from tests.support.ledgers import FakeClock


@pytest.fixture
def server() -> Iterator[CiServer]:
    with ci_server() as served:
        yield served


def github(server: CiServer, **more: str) -> dict[str, str]:
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": server.address,
        "GITHUB_REPOSITORY": "acme/shop",
        "GITHUB_RUN_ID": "7",
        "GITHUB_RUN_ATTEMPT": "1",
        "RUNNER_NAME": "hosted-1",
        "GITHUB_TOKEN": TOKEN,
        **more,
    }


def gitlab(server: CiServer, **more: str) -> dict[str, str]:
    return {
        "GITLAB_CI": "true",
        "CI_API_V4_URL": server.address,
        "CI_PROJECT_ID": "42",
        "CI_PIPELINE_ID": "70",
        "CI_JOB_ID": "9",
        "GITLAB_TOKEN": TOKEN,
        **more,
    }


def ask(environ: dict[str, str], job: CiJob | None = None, *, seconds: float = 15) -> CiAnswer:
    job = job or this_job(environ)
    assert job
    return CiJobs(environ, FakeClock(), seconds).ask(job)


@pytest.mark.parametrize("more", [{}, {"HYBRIDWRAP_CI_JOB": "9"}], ids=["by its machine", "by its number"])
@pytest.mark.parametrize(
    ("status", "ended"),
    [("queued", False), ("in_progress", False), ("waiting", False), ("completed", True), ("who knows", False)],
)
def test_a_job_of_github_has_ended_when_it_is_completed(
    server: CiServer, more: dict[str, str], status: str, ended: bool
) -> None:
    server.github_job(status=status)
    answer = ask(github(server, **more))
    assert (answer.ended, answer.at) == (ended, "2026-01-01T00:00:00Z")
    assert status in answer.told
    assert {token for _, token in server.asked} == {f"Bearer {TOKEN}"}


@pytest.mark.parametrize(
    ("status", "ended"),
    [("running", False), ("canceling", False), ("canceled", True), ("failed", True), ("success", True), ("?", False)],
)
def test_a_job_of_gitlab_has_ended_by_its_last_three_statuses(server: CiServer, status: str, ended: bool) -> None:
    server.gitlab_job(status)
    assert ask(gitlab(server)).ended is ended
    assert {token for _, token in server.asked} == {TOKEN}


def test_a_machine_that_works_on_another_job_of_the_run_has_not_ended(server: CiServer) -> None:
    server.github_job()
    (jobs,) = (answer["jobs"] for path, answer in server.answers.items() if "per_page" in path)
    jobs.append({**jobs[0], "id": 10, "status": "in_progress", "completed_at": None})
    assert not ask(github(server)).ended


def test_where_the_job_is_not_known_the_whole_attempt_must_be_over(server: CiServer) -> None:
    attempt = "/repos/acme/shop/actions/runs/7/attempts/1"
    server.answers[f"{attempt}/jobs?per_page=100&page=1"] = {"jobs": []}
    server.answers[attempt] = {"id": 7, "status": "in_progress", "conclusion": None, "updated_at": "x"}
    assert not ask(github(server, RUNNER_NAME="")).ended
    server.answers[attempt] = {"id": 7, "status": "completed", "conclusion": "cancelled", "updated_at": "x"}
    assert ask(github(server, RUNNER_NAME="")).ended


@pytest.mark.parametrize("environ", [github, gitlab])
@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 502, 503, 302])
def test_no_refusal_counts_as_an_end(server: CiServer, environ: object, status: int) -> None:
    server.github_job()
    server.gitlab_job("canceled")
    server.status, server.moved_to = status, f"{server.address}/elsewhere" if status == 302 else ""
    assert callable(environ)
    answer = ask(environ(server))
    assert not answer.ended
    assert str(status) in answer.told
    assert TOKEN not in answer.told
    assert not any("elsewhere" in path for path, _ in server.asked)


@pytest.mark.parametrize(
    "garbage",
    [b"", b"<html>", b"[]", b"null", b"{}", b'"completed"', b'{"status": "completed"}', b"\xff\xfe",
     b'{"id": 8, "status": "failed"}',
     b'{"id": 10, "run_id": 8, "status": "completed"}', b'{"jobs": [{"runner_name": "hosted-1"}]}'],
)  # fmt: skip
@pytest.mark.parametrize("environ", [github, gitlab])
def test_no_answer_that_is_not_understood_counts_as_an_end(server: CiServer, environ: object, garbage: bytes) -> None:
    server.github_job()
    server.gitlab_job("canceled")
    server.answers = dict.fromkeys(server.answers, garbage)
    assert callable(environ)
    assert not ask(environ(server)).ended
    assert not ask(environ(server, HYBRIDWRAP_CI_JOB="9")).ended


def test_no_answer_at_all_counts_as_no_end(server: CiServer) -> None:
    server.gitlab_job("canceled")
    server.hangs = True
    answer = ask(gitlab(server), seconds=0.2)
    assert not answer.ended
    assert "no answer" in answer.told
    assert not ask(gitlab(server, CI_API_V4_URL="http://127.0.0.1:1")).ended


def test_a_token_is_sent_only_to_the_system_that_our_own_environment_names(server: CiServer) -> None:
    server.github_job()
    job = this_job(github(server))
    assert job
    elsewhere = github(server, GITHUB_API_URL="https://ci.example")
    assert not ask(elsewhere, job).ended
    assert not ask({"GITHUB_TOKEN": TOKEN}, job).ended
    assert server.asked == []


@pytest.mark.parametrize(("environ", "token"), [(github, "GITHUB_TOKEN"), (gitlab, "GITLAB_TOKEN")])
def test_without_a_token_it_says_which_one_to_set(server: CiServer, environ: object, token: str) -> None:
    assert callable(environ)
    answer = ask(environ(server, **{token: ""}))
    assert not answer.ended
    assert token in answer.told
    assert server.asked == []


@pytest.mark.parametrize(
    ("environ", "thrown_away"),
    [
        ({"GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "7", "RUNNER_ENVIRONMENT": "github-hosted"}, True),
        ({"GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "7", "RUNNER_ENVIRONMENT": "self-hosted"}, False),
        ({"GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "7"}, False),
        ({"GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "7", "HYBRIDWRAP_RUNNERS": "ephemeral"}, True),
        ({"GITLAB_CI": "true", "CI_JOB_ID": "9"}, False),
        ({"GITLAB_CI": "true", "CI_JOB_ID": "9", "HYBRIDWRAP_RUNNERS": "ephemeral"}, True),
    ],
)
def test_a_machine_is_thrown_away_only_where_somebody_says_so(environ: dict[str, str], thrown_away: bool) -> None:
    job = this_job(environ)
    assert job
    assert job.thrown_away is thrown_away


def test_who_is_in_no_job_has_none() -> None:
    assert this_job({"CI": "true"}) is None
    assert ci_jobs.this_job({}) is None
