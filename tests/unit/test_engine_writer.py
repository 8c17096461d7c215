"""Ids, time, and who we are."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta

import pytest

from hybridwrap.adapters.clock import SystemClock, Ulids
from hybridwrap.adapters.writer import boot_id, ci_job, this_writer


class StandingClock(SystemClock):
    """A clock that says what it is told."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 30, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


def test_ids_sort_by_the_time_of_their_making_even_when_it_stands_still_or_goes_back() -> None:
    clock = StandingClock()
    ids = Ulids(clock)
    made = [ids.new(), ids.new()]
    clock.time -= timedelta(hours=1)
    made += [ids.new()]
    clock.time += timedelta(hours=2)
    made += [ids.new()]
    assert made == sorted(set(made))


def test_an_id_is_a_ulid_that_says_its_time() -> None:
    clock = StandingClock()
    clock.time = datetime.fromtimestamp(1469918176.385, UTC)
    assert Ulids(clock).new().startswith("01ARYZ6S41")  # the example of the ULID specification
    assert re.fullmatch(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", Ulids(SystemClock()).new())


@pytest.mark.parametrize(
    ("environ", "job"),
    [
        ({}, ""),
        (
            {
                "GITHUB_SERVER_URL": "https://github.com",
                "GITHUB_REPOSITORY": "acme/shop",
                "GITHUB_RUN_ID": "7",
                "GITHUB_RUN_ATTEMPT": "2",
            },
            "https://github.com/acme/shop/actions/runs/7/attempts/2",
        ),
        ({"GITHUB_REPOSITORY": "acme/shop"}, ""),
        (
            {"CI_JOB_URL": "https://gitlab.example/j/1", "CI_PIPELINE_URL": "https://gitlab.example/p/1"},
            "https://gitlab.example/j/1",
        ),
        ({"BUILD_URL": "https://jenkins.example/job/1/"}, "https://jenkins.example/job/1/"),
        ({"BUILDKITE_BUILD_URL": "https://buildkite.com/b/1", "BUILDKITE_JOB_ID": "x"}, "https://buildkite.com/b/1#x"),
        ({"CI_JOB_URL": ""}, ""),
    ],
)
def test_the_ci_job_is_named_by_its_address(environ: dict[str, str], job: str) -> None:
    assert ci_job(environ) == job


def test_the_writer_is_this_process_on_this_boot_of_this_host() -> None:
    started = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC)
    writer = this_writer({"CI_JOB_URL": "https://ci.example/1"}, started)
    assert (writer.pid, writer.host, writer.ci_url) == (os.getpid(), os.uname().nodename, "https://ci.example/1")
    assert writer.started == "2026-11-30T12:00:00.123Z"
    assert writer.boot == boot_id()
    assert writer.user
