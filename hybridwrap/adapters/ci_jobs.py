"""Jobs of GitHub Actions and GitLab: who we are, and whether another one has ended.

Keeps: the token goes to the interface that our own environment names, and nowhere else, whatever a ledger says; only
the system's own word for an end counts as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from hybridwrap.domain.ci import CiAnswer, CiJob
from hybridwrap.domain.ports import Clock

GITHUB_API = "https://api.github.com"
# docs.gitlab.com/api/jobs; `canceling` is not over yet
ENDED_IN_GITLAB = frozenset({"success", "failed", "canceled"})
PAGE = 100
MOST_PAGES = 10
NAMES = {"github": "GitHub", "gitlab": "GitLab"}


def this_job(environ: Mapping[str, str]) -> CiJob | None:
    """The job that we run in, None when there is none that could be asked about."""
    said = environ.get("HYBRIDWRAP_RUNNERS") == "ephemeral"
    if environ.get("GITHUB_ACTIONS") == "true" and environ.get("GITHUB_RUN_ID"):
        return CiJob(
            system="github",
            api=environ.get("GITHUB_API_URL") or GITHUB_API,
            project=environ.get("GITHUB_REPOSITORY", ""),
            run=environ["GITHUB_RUN_ID"],
            attempt=environ.get("GITHUB_RUN_ATTEMPT", "1"),
            job=environ.get("HYBRIDWRAP_CI_JOB", ""),  # ${{ job.check_run_id }}: no variable of its own has it
            runner=environ.get("RUNNER_NAME", ""),
            thrown_away=said or environ.get("RUNNER_ENVIRONMENT") == "github-hosted",
        )
    if environ.get("GITLAB_CI") and environ.get("CI_JOB_ID"):
        return CiJob(
            system="gitlab",
            api=environ.get("CI_API_V4_URL", ""),
            project=environ.get("CI_PROJECT_ID", ""),
            run=environ.get("CI_PIPELINE_ID", ""),
            job=environ["CI_JOB_ID"],
            runner=environ.get("CI_RUNNER_DESCRIPTION", ""),
            thrown_away=said,
        )
    return None


class CiJobs:
    """Asks the CI system of our own environment."""

    def __init__(self, environ: Mapping[str, str], clock: Clock, seconds: float = 15.0) -> None:
        self._environ = environ
        self._clock = clock
        self._seconds = seconds  # for each answer

    def ask(self, job: CiJob) -> CiAnswer:
        name = NAMES.get(job.system, job.system)
        if why := self._why_not(job, name):
            return CiAnswer(why)
        from hybridwrap.adapters.publishing.http import NotPublished

        ask: Callable[[CiJob], CiAnswer] = {"github": self._ask_github, "gitlab": self._ask_gitlab}[job.system]
        try:
            return ask(job)
        except NotPublished as error:
            return CiAnswer(f"{name} can't be asked about its job: {error}")
        except (AttributeError, KeyError, TypeError, ValueError):
            return CiAnswer(f"{name} gave an answer about its job that is not understood")

    def _why_not(self, job: CiJob, name: str) -> str:
        apis = {
            "github": self._environ.get("GITHUB_API_URL") or GITHUB_API,
            "gitlab": self._environ.get("CI_API_V4_URL", ""),
        }
        if not job.api or apis.get(job.system) != job.api:
            return f"its job is one of {job.api or name}, which is not the CI system that is asked from here"
        if not self._token(job.system):
            return f"{name} can be asked about its job: set {' or '.join(_TOKENS[job.system])}"
        return ""

    def _token(self, system: str) -> str:
        return next((self._environ[name] for name in _TOKENS[system] if self._environ.get(name)), "")

    def _ask_github(self, job: CiJob) -> CiAnswer:
        runs = f"/repos/{quote(job.project)}/actions/runs/{quote(job.run)}"
        if job.job:
            return _of_github(job, self._get(job, f"/repos/{quote(job.project)}/actions/jobs/{quote(job.job)}"))
        attempt = f"{runs}/attempts/{quote(job.attempt)}"
        same = [each for each in self._jobs(job, attempt) if job.runner and each["runner_name"] == job.runner]
        open_ones = [each for each in same if each["status"] != "completed"]
        if same:
            last = max(same, key=lambda each: each["completed_at"] or "")
            return _of_github(job, open_ones[0] if open_ones else last)
        return _of_github(job, {"run_id": job.run, **self._get(job, attempt)})

    def _jobs(self, job: CiJob, attempt: str) -> Iterator[Any]:
        for page in range(1, MOST_PAGES + 1):
            found = self._get(job, f"{attempt}/jobs?per_page={PAGE}&page={page}")["jobs"]
            yield from found
            if len(found) < PAGE:
                return
        raise ValueError("more jobs than anybody has")

    def _ask_gitlab(self, job: CiJob) -> CiAnswer:
        found = self._get(job, f"/projects/{quote(job.project, safe='')}/jobs/{quote(job.job)}")
        if str(found["id"]) != job.job:
            raise ValueError("another job")
        status = str(found["status"])
        return CiAnswer(
            f"GitLab says of its job: {status}", status in ENDED_IN_GITLAB, str(found.get("finished_at") or "")
        )

    def _get(self, job: CiJob, path: str) -> Any:
        from hybridwrap.adapters.publishing.http import Call, send

        token = self._token(job.system)
        headers = {"PRIVATE-TOKEN": token} if job.system == "gitlab" else {"Authorization": f"Bearer {token}"}
        return send(Call("GET", f"{job.api}{path}", headers), self._clock.now().timestamp(), self._seconds).json()


_TOKENS = {"github": ("GITHUB_TOKEN", "GH_TOKEN"), "gitlab": ("GITLAB_TOKEN",)}


def _of_github(job: CiJob, found: Mapping[str, Any]) -> CiAnswer:
    """Read a job, or an attempt of a run, which is over when all its jobs are."""
    if str(found["run_id"]) != job.run:
        raise ValueError("a job of another run")
    status, conclusion = str(found["status"]), found.get("conclusion")
    ended = status == "completed"
    at = str(found.get("completed_at") or found.get("updated_at") or "")
    return CiAnswer(f"GitHub says of its job: {status}" + (f", {conclusion}" if conclusion else ""), ended, at)
