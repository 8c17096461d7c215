"""Pull requests of GitHub, as a workflow's job sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from hybridwrap.adapters.publishing.comments import Comment
from hybridwrap.adapters.publishing.http import Answer, Call, NotPublished, send
from hybridwrap.domain.json import Json, loads
from hybridwrap.domain.ports import Clock

PAGE = 100
_NEXT = re.compile(r'<([^<>]+)>;[^,]*\brel="next"')
_REF = re.compile(r"refs/pull/(\d+)/")


class GitHub(Struct, frozen=True):
    """A repository, through its interface; `token` is a secret."""

    api: str
    repository: str
    token: str
    clock: Clock

    @classmethod
    def of(cls, environ: Mapping[str, str], clock: Clock) -> GitHub:
        """Raise NotPublished when the job has no token."""
        token = environ.get("GITHUB_TOKEN", "")
        if not token:
            raise NotPublished("GITHUB_TOKEN is not set; in the workflow: env: {GITHUB_TOKEN: ${{ github.token }}}")
        if not (repository := environ.get("GITHUB_REPOSITORY", "")):
            raise NotPublished("GITHUB_REPOSITORY is not set: this is no job of GitHub Actions")
        return cls(environ.get("GITHUB_API_URL") or "https://api.github.com", repository, token, clock)

    def pull_request(self, environ: Mapping[str, str]) -> PullRequest | None:
        """The one that the job is for, or whose merge it is about; None when there is none."""
        number = _number_of_event(environ) or self._number_of_merge(environ.get("GITHUB_SHA", ""))
        return PullRequest(self, number) if number else None

    def ask(self, method: str, path: str, body: Json = None) -> Answer:
        url = path if path.startswith(("http:", "https:")) else f"{self.api}/repos/{self.repository}/{path}"
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        return send(Call(method, url, headers, body), self.clock.now().timestamp())

    def _number_of_merge(self, commit: str) -> int | None:
        if not commit:
            return None
        found = self.ask("GET", f"commits/{commit}/pulls").json()
        merged = [each["number"] for each in found if each.get("merged_at")] if isinstance(found, list) else []
        return merged[0] if merged else None


class PullRequest(Struct, frozen=True):
    """A Thread: for GitHub a pull request is an issue, too."""

    github: GitHub
    number: int

    def comments(self) -> Iterator[Comment]:
        """All pages, the way that each names the next; only of the same address, as they get the token."""
        path: str | None = f"issues/{self.number}/comments?per_page={PAGE}"
        while path:
            answer = self.github.ask("GET", path)
            for each in answer.json():
                yield Comment(each["id"], (each.get("body") or "").replace("\r\n", "\n"))
            found = _NEXT.search(answer.headers.get("link", ""))
            path = found[1] if found and found[1].startswith(f"{self.github.api}/") else None

    def create(self, body: str) -> None:
        self.github.ask("POST", f"issues/{self.number}/comments", {"body": body})

    def update(self, comment: int, body: str) -> None:
        self.github.ask("PATCH", f"issues/comments/{comment}", {"body": body})


def _number_of_event(environ: Mapping[str, str]) -> int | None:
    if found := _REF.match(environ.get("GITHUB_REF", "")):
        return int(found[1])
    try:
        event = loads(Path(environ.get("GITHUB_EVENT_PATH", "")).read_bytes())
    except (OSError, ValueError):
        return None
    about = event.get("pull_request") if isinstance(event, dict) else None
    number = about.get("number") if isinstance(about, dict) else None
    return int(number) if number else None
