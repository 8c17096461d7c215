"""A report to where people look: what can't be published is said, and changes nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hybridwrap.adapters.clock import SystemClock
from hybridwrap.cli.reports.file import rendered
from hybridwrap.domain.ports import Clock
from hybridwrap.run.report import Report

if TYPE_CHECKING:
    from hybridwrap.adapters.publishing.comments import Thread

Environ = Mapping[str, str]

publish_option = click.option(
    "--publish",
    "publish_to",
    multiple=True,
    type=click.Choice(["github", "gitlab", "slack"]),
    help="Also as job summary and one comment on the pull request (github), as one on the merge request (gitlab), or "
    "as a message (slack: to SLACK_WEBHOOK_URL). What fails there is said, and changes no exit code.",
)


def publish(report: Report, systems: Sequence[str]) -> None:
    """Tell each system; what became of it goes to stderr."""
    for system in dict.fromkeys(systems):
        for line in published(report, system, os.environ, SystemClock()):
            click.echo(f"{system}: {line}", err=True)


def published(report: Report, system: str, environ: Environ, clock: Clock) -> list[str]:
    """Tell one system, and say what became of it."""
    return [_tried(tell, report, environ, clock) for tell in _TELL[system]]


Tell = Callable[[Report, Environ, Clock], str]
Find = Callable[[Environ, Clock], "Thread | None"]


def _tried(tell: Tell, report: Report, environ: Environ, clock: Clock) -> str:
    from hybridwrap.adapters.publishing.http import NotPublished

    try:
        return tell(report, environ, clock)
    except NotPublished as error:
        return f"not published: {error}{_why(error.status)}"


def _why(status: int) -> str:
    """What to do about a refusal, where that is known."""
    return {
        401: "; the token is not valid",
        403: "; the token may not comment (GitHub: permissions: pull-requests: write; GitLab: scope api)",
        404: "; it is not there, or the token may not see it",
    }.get(status, "")


def marker(report: Report) -> str:
    """The first line of a comment, by which it is found again; names hold nothing that ends it."""
    return f"<!-- hybridwrap: {report.stack}/{report.environment} -->"


def _summary(report: Report, environ: Environ, _clock: Clock) -> str:
    file = environ.get("GITHUB_STEP_SUMMARY", "")
    if not file:
        return "no job summary: GITHUB_STEP_SUMMARY is not set"
    try:
        with Path(file).open("a", encoding="utf-8") as summary:
            summary.write(f"{rendered(report, 'markdown')}\n")
    except OSError as error:
        return f"no job summary: {error.strerror}"
    return "job summary written"


def _comment_on(what: str, find: Find) -> Tell:
    def tell(report: Report, environ: Environ, clock: Clock) -> str:
        from hybridwrap.adapters.publishing.comments import put_comment

        thread = find(environ, clock)
        if thread is None:
            return f"no comment: this is about no {what}"
        said = put_comment(thread, marker(report), rendered(report, "markdown"), clock)
        return f"{said} on {what} {thread.number}"

    return tell


def _pull_request(environ: Environ, clock: Clock) -> Thread | None:
    from hybridwrap.adapters.publishing.github import GitHub

    return GitHub.of(environ, clock).pull_request(environ)


def _merge_request(environ: Environ, clock: Clock) -> Thread | None:
    from hybridwrap.adapters.publishing.gitlab import GitLab

    return GitLab.of(environ, clock).merge_request(environ)


def _message(report: Report, environ: Environ, clock: Clock) -> str:
    from hybridwrap.adapters.publishing.webhook import post_message

    return post_message(environ, rendered(report, "message"), clock)


_TELL: Mapping[str, Sequence[Tell]] = {
    "github": (_summary, _comment_on("pull request", _pull_request)),
    "gitlab": (_comment_on("merge request", _merge_request),),
    "slack": (_message,),
}
