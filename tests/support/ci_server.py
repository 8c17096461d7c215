"""A server on this machine that speaks as much of GitHub's and GitLab's interfaces as questions about jobs take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from tests.support.http_server import Answer, Request, serving

TOKEN = "a-token-of-nobody"


@dataclass
class CiServer:
    """Answers by path, query and all; what it does not know is not found."""

    answers: dict[str, Any] = field(default_factory=dict)  # path -> JSON, or bytes as they are
    status: int = 200
    hangs: bool = False
    moved_to: str = ""
    asked: list[tuple[str, str]] = field(default_factory=list)  # path and token
    address: str = ""
    over: Event = field(default_factory=Event)

    def github_job(self, **job: Any) -> None:
        """Job 9 of run 7, on machine `hosted-1`."""
        whole = {
            "id": 9, "run_id": 7, "runner_name": "hosted-1", "status": "completed", "conclusion": "cancelled",
            "completed_at": "2026-01-01T00:00:00Z", **job,
        }  # fmt: skip
        self.answers["/repos/acme/shop/actions/jobs/9"] = whole
        jobs = "/repos/acme/shop/actions/runs/7/attempts/1/jobs?per_page=100&page=1"
        self.answers[jobs] = {"total_count": 1, "jobs": [whole]}

    def gitlab_job(self, status: str) -> None:
        self.answers["/projects/42/jobs/9"] = {"id": 9, "status": status, "finished_at": "2026-01-01T00:00:00.000Z"}

    def answer(self, request: Request) -> Answer | None:
        token = request.headers.get("Authorization") or request.headers.get("PRIVATE-TOKEN") or ""
        self.asked.append((request.target, token))
        if self.hangs:
            self.over.wait(60)
            return None
        if request.target not in self.answers:
            return Answer(404, {"message": "Not Found"})
        return Answer(self.status, self.answers[request.target], {"Location": self.moved_to} if self.moved_to else {})


@contextmanager
def ci_server() -> Iterator[CiServer]:
    served = CiServer()
    with serving(served.answer) as served.address:
        try:
            yield served
        finally:
            served.over.set()
