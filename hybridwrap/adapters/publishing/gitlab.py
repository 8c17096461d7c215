"""Merge requests of GitLab, as a pipeline's job sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from msgspec import Struct

from hybridwrap.adapters.publishing.comments import Comment
from hybridwrap.adapters.publishing.http import Answer, Call, NotPublished, send
from hybridwrap.domain.json import Json
from hybridwrap.domain.ports import Clock

PAGE = 100
# A line that begins so is obeyed (docs.gitlab.com/user/project/quick_actions), in HTML too.
_QUICK_ACTION = re.compile(r"^(\s*)/(?=\w)", re.MULTILINE)


class GitLab(Struct, frozen=True):
    """A project, through its interface; `token` is a secret."""

    project: str  # its address there
    token: str
    clock: Clock

    @classmethod
    def of(cls, environ: Mapping[str, str], clock: Clock) -> GitLab:
        """Raise NotPublished when the job has no token."""
        if not (token := environ.get("GITLAB_TOKEN", "")):
            raise NotPublished("GITLAB_TOKEN is not set: a project access token with scope api")
        api, project = environ.get("CI_API_V4_URL", ""), environ.get("CI_PROJECT_ID", "")
        if not (api and project):
            raise NotPublished("CI_API_V4_URL or CI_PROJECT_ID is not set: this is no job of GitLab")
        return cls(f"{api}/projects/{quote(project, safe='')}", token, clock)

    def merge_request(self, environ: Mapping[str, str]) -> MergeRequest | None:
        """The one that the job is for, or whose merge it is about; None when there is none."""
        if number := environ.get("CI_MERGE_REQUEST_IID", ""):
            return MergeRequest(self, int(number))
        if not (commit := environ.get("CI_COMMIT_SHA", "")):
            return None
        found = self.ask("GET", f"repository/commits/{commit}/merge_requests").json()
        merged = [each["iid"] for each in found if each.get("state") == "merged"] if isinstance(found, list) else []
        return MergeRequest(self, merged[0]) if merged else None

    def ask(self, method: str, path: str, body: Json = None) -> Answer:
        call = Call(method, f"{self.project}/{path}", {"PRIVATE-TOKEN": self.token}, body)
        return send(call, self.clock.now().timestamp())


class MergeRequest(Struct, frozen=True):
    """A Thread."""

    gitlab: GitLab
    number: int

    def comments(self) -> Iterator[Comment]:
        page = "1"
        while page:
            where = f"{self._notes}?per_page={PAGE}&sort=asc&order_by=created_at&page={page}"
            answer = self.gitlab.ask("GET", where)
            for each in answer.json():
                yield Comment(each["id"], each.get("body") or "")
            page = answer.headers.get("x-next-page", "").strip()

    def create(self, body: str) -> None:
        self.gitlab.ask("POST", self._notes, {"body": inert(body)})

    def update(self, comment: int, body: str) -> None:
        self.gitlab.ask("PUT", f"{self._notes}/{comment}", {"body": inert(body)})

    @property
    def _notes(self) -> str:
        return f"merge_requests/{self.number}/notes"


def inert(body: str) -> str:
    """The same to look at, and nothing in it that GitLab obeys."""
    return _QUICK_ACTION.sub(r"\1&#47;", body)
