"""Comments, summaries and messages: written once and kept in place, and never what decides how a run ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from hybridwrap.adapters.publishing.gitlab import inert
from hybridwrap.adapters.publishing.webhook import inert as inert_message
from hybridwrap.cli.publishing import Environ, marker, published
from hybridwrap.cli.reports.markdown import LIMIT
from hybridwrap.run.report import Report, read_report
from tests.support.forge import TOKEN, Forge, Refusal, forge
from tests.support.ledgers import FakeClock
from tests.support.stories import half_applied, many

REPORT = read_report(half_applied().ledger, None)
MARKER = "<!-- hybridwrap: shop/prod -->"


@pytest.fixture
def served() -> Iterator[Forge]:
    with forge() as running:
        yield running


def environ_of(served: Forge, system: str, **more: str) -> dict[str, str]:
    github = {
        "GITHUB_API_URL": f"{served.address}/api/v3",
        "GITHUB_REPOSITORY": "acme/shop",
        "GITHUB_TOKEN": TOKEN,
        "GITHUB_REF": "refs/pull/7/merge",
    }
    gitlab = {
        "CI_API_V4_URL": f"{served.address}/api/v4",
        "CI_PROJECT_ID": "42",
        "GITLAB_TOKEN": TOKEN,
        "CI_MERGE_REQUEST_IID": "7",
    }
    return {**(github if system == "github" else gitlab), **more}


def comment(served: Forge, system: str = "github", report: Report = REPORT, environ: Environ | None = None) -> str:
    """Publish, and return what was said of the comment."""
    told = published(report, system, {**environ_of(served, system), **(environ or {})}, FakeClock())
    return told[-1]


SYSTEMS = pytest.mark.parametrize("system", ["github", "gitlab"])


@SYSTEMS
def test_a_comment_is_written_once_and_then_updated_in_its_place(served: Forge, system: str) -> None:
    served.comments = {1: "a comment", 2: f"> {MARKER}\nquoted"}
    assert comment(served, system).startswith("comment written on")
    assert comment(served, system, read_report(many(110).ledger, None)).startswith("comment updated on")
    assert list(served.comments) == [1, 2, 3]
    assert served.comments[3].startswith(f"{MARKER}\n### shop · prod · apply: 1 error")
    assert "92 unchanged" in served.comments[3]


@SYSTEMS
def test_a_comment_is_found_on_whichever_page_it_stands(served: Forge, system: str) -> None:
    served.page = 2
    served.comments = {number: f"comment {number}" for number in range(1, 6)} | {6: f"{MARKER}\nold"}
    assert comment(served, system).startswith("comment updated on")
    assert len(served.comments) == 6
    assert served.comments[6] != f"{MARKER}\nold"


@SYSTEMS
def test_the_comment_of_another_stack_or_environment_is_left_alone(served: Forge, system: str) -> None:
    served.comments = {1: "<!-- hybridwrap: shop/dev -->\nold", 2: "<!-- hybridwrap: shop/production -->\nold"}
    comment(served, system)
    assert [body.partition("\n")[0] for body in served.comments.values()][2] == MARKER
    assert "old" in served.comments[1]


def test_a_comment_that_says_the_same_already_is_not_touched(served: Forge) -> None:
    comment(served)
    assert comment(served) == "comment is current on pull request 7"


@SYSTEMS
def test_a_comment_that_is_gone_when_it_is_updated_is_written_anew(served: Forge, system: str) -> None:
    served.comments = {1: f"{MARKER}\nold"}
    served.refusals = [Refusal("PATCH", 404), Refusal("PUT", 404)]
    assert comment(served, system).startswith("comment written on")
    assert len(served.comments) == 2


@SYSTEMS
def test_after_a_merge_the_comment_is_that_of_the_request_that_was_merged(served: Forge, system: str) -> None:
    environ = {"GITHUB_REF": "refs/heads/main", "GITHUB_SHA": "abc", "CI_MERGE_REQUEST_IID": "", "CI_COMMIT_SHA": "abc"}
    assert comment(served, system, environ=environ).startswith("comment written on")
    served.merged = False
    assert comment(served, system, environ=environ).startswith("no comment: this is about no")


def test_the_number_of_a_pull_request_is_in_the_event_too(served: Forge, tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7}}))
    said = comment(served, environ={"GITHUB_REF": "refs/heads/topic", "GITHUB_EVENT_PATH": str(event)})
    assert said == "comment written on pull request 7"


# Refusals


@SYSTEMS
@pytest.mark.parametrize(
    ("status", "told"),
    [
        (401, "401 no reason; the token is not valid"),
        (403, "403 no reason; the token may not comment"),
        (404, "404 no reason; it is not there"),
        (422, "422 no reason"),
        (302, "302 no reason"),
    ],
)
def test_a_refusal_is_said_with_its_reason_and_not_repeated(served: Forge, system: str, status: int, told: str) -> None:
    served.refusals = [Refusal("POST", status, times=9, headers={"Location": f"{served.address}/elsewhere"})]
    assert comment(served, system).startswith(f"not published: {told}")
    assert [method for method, _ in served.asked] == ["GET", "POST"]


@SYSTEMS
def test_trouble_that_goes_away_is_waited_out(served: Forge, system: str) -> None:
    served.refusals = [Refusal("GET", 502), Refusal("POST", 500), Refusal("POST", 0)]
    assert comment(served, system).startswith("comment written on")
    assert len(served.comments) == 1


@SYSTEMS
def test_a_comment_whose_answer_was_lost_is_not_written_twice(served: Forge, system: str) -> None:
    served.refusals = [Refusal("POST", 0, lands=True), Refusal("POST", 502, lands=True)]
    assert comment(served, system).startswith("comment")
    assert len(served.comments) == 1


@SYSTEMS
def test_trouble_that_stays_is_said_after_a_few_tries(served: Forge, system: str) -> None:
    served.refusals = [Refusal("GET", 503, times=9, body=b"<html>Unicorn</html>")]
    assert comment(served, system) == "not published: 503"
    assert len(served.asked) == 4


@pytest.mark.parametrize("status", [403, 429])
def test_a_limit_on_requests_is_kept_for_as_long_as_the_forge_asks(served: Forge, status: int) -> None:
    clock = FakeClock()
    began = clock.monotonic()
    served.refusals = [Refusal("POST", status, headers={"Retry-After": "17"})]
    said = published(REPORT, "github", environ_of(served, "github"), clock)
    assert said[-1] == "comment written on pull request 7"
    assert clock.monotonic() - began == 17


def test_nobody_waits_an_hour_for_a_comment(served: Forge) -> None:
    clock = FakeClock()
    reset = str(int(clock.now().timestamp()) + 3600)
    served.refusals = [Refusal("GET", 403, headers={"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset})]
    said = published(REPORT, "github", environ_of(served, "github"), clock)
    assert "it takes no more for 3600 s" in said[-1]
    assert len(served.asked) == 1


@SYSTEMS
def test_a_forge_that_is_not_there_is_said(served: Forge, system: str) -> None:
    nowhere = {"GITHUB_API_URL": "http://127.0.0.1:1", "CI_API_V4_URL": "http://127.0.0.1:1"}
    assert "refused" in comment(served, system, environ=nowhere)
    odd = {"GITHUB_API_URL": "file:///etc", "CI_API_V4_URL": "file:///etc"}
    assert "no http" in comment(served, system, environ=odd)


@pytest.mark.parametrize(
    ("system", "variable"),
    [
        *(("github", name) for name in ("GITHUB_TOKEN", "GITHUB_REPOSITORY")),
        *(("gitlab", name) for name in ("GITLAB_TOKEN", "CI_API_V4_URL", "CI_PROJECT_ID")),
    ],
)
def test_what_is_missing_is_named(served: Forge, system: str, variable: str) -> None:
    assert f"{variable}" in comment(served, system, environ={variable: ""})
    assert not served.asked


def test_a_token_goes_to_no_other_address_that_an_answer_names(served: Forge) -> None:
    link = '<http://127.0.0.1:1/api/v3/next>; rel="next"'
    served.refusals = [Refusal("GET", 200, headers={"Link": link}, body=b"[]")]
    assert comment(served) == "comment written on pull request 7"


@pytest.mark.parametrize("system", ["github", "gitlab", "slack"])
def test_no_secret_is_in_what_is_said(served: Forge, system: str) -> None:
    for status in (0, 400, 401, 500):
        served.refusals = [Refusal(method, status, times=9) for method in ("GET", "POST")]
        environ = environ_of(served, system, SLACK_WEBHOOK_URL=f"{served.address}/hook/secret")
        said = " ".join(published(REPORT, system, environ, FakeClock()))
        assert TOKEN not in said
        assert "secret" not in said


# What is published


def test_the_job_summary_gets_the_report(tmp_path: Path) -> None:
    file = tmp_path / "summary.md"
    file.write_text("before\n")
    assert published(REPORT, "github", {"GITHUB_STEP_SUMMARY": str(file)}, FakeClock())[0] == "job summary written"
    assert file.read_text().startswith("before\n### shop · prod · apply: ")
    gone = {"GITHUB_STEP_SUMMARY": str(tmp_path / "gone" / "summary.md")}
    assert published(REPORT, "github", gone, FakeClock())[0].startswith("no job summary: No such file")
    assert published(REPORT, "github", {}, FakeClock())[0] == "no job summary: GITHUB_STEP_SUMMARY is not set"


def test_a_message_says_how_it_ended_and_what_is_not_done(served: Forge) -> None:
    environ = {"SLACK_WEBHOOK_URL": f"{served.address}/hook/secret"}
    assert published(REPORT, "slack", environ, FakeClock()) == ["message sent"]
    (message,) = served.messages
    assert message["text"].splitlines() == [
        "shop · prod · apply: 1 error, 2 pending, 1 ok; exit 4 after 1m48",
        "• vm: error  aws_instance.web: creating EC2 Instance modules/vm/main.tf:21",
        "• configuration: pending  waits for vm.address",
        "• health: pending  waits for configuration",
        "next: hybridwrap why -e prod health",
    ]


def test_a_message_whose_answer_was_lost_is_not_sent_twice(served: Forge) -> None:
    served.refusals = [Refusal("POST", 0, lands=True)]
    environ = {"SLACK_WEBHOOK_URL": f"{served.address}/hook/secret"}
    assert published(REPORT, "slack", environ, FakeClock())[0].startswith("not published: no answer")
    assert len(served.messages) == 1


def test_a_message_of_many_modules_stays_short(served: Forge) -> None:
    environ = {"SLACK_WEBHOOK_URL": f"{served.address}/hook/secret"}
    published(read_report(many(500).ledger, None), "slack", environ, FakeClock())
    assert len(served.messages[0]["text"]) < 2_000


def test_nobody_is_mentioned_by_a_message_and_nothing_in_it_is_a_link() -> None:
    assert inert_message("<!channel> @here a & b") == "&lt;!channel&gt; @\u2060here a &amp; b"


def test_nothing_in_a_note_is_obeyed_by_gitlab() -> None:
    assert inert("<pre>\n/merge\n  /close now\n</pre>\na/b") == "<pre>\n&#47;merge\n  &#47;close now\n</pre>\na/b"


def test_the_marker_and_the_longest_report_fit_into_a_comment() -> None:
    longest_name = "x" * 64
    longest = marker(replace(REPORT, stack=longest_name, environment=longest_name))
    assert len(longest) + 1 + LIMIT <= 65_536


def test_what_a_forge_says_is_shown_without_what_a_terminal_obeys(served: Forge) -> None:
    served.refusals = [Refusal("GET", 422, body=b'{"message": "\\u001b[31mred\\nand more"}')]
    assert comment(served) == "not published: 422  [31mred and more"
