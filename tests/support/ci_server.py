"""A server on this machine that speaks as much of GitHub's and GitLab's interfaces as questions about jobs take."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

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


class Handler(BaseHTTPRequestHandler):
    served: CiServer

    def do_GET(self) -> None:
        served = self.served
        served.asked.append((self.path, self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN") or ""))
        if served.hangs:
            served.over.wait(60)
            self.close_connection = True
            return
        known = self.path in served.answers
        answer = served.answers.get(self.path, {"message": "Not Found"})
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(served.status if known else 404)
        if served.moved_to:
            self.send_header("Location", served.moved_to)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_args: Any) -> None: ...


@contextmanager
def ci_server() -> Iterator[CiServer]:
    served = CiServer()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Serving", (Handler,), {"served": served}))
    served.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield served
    finally:
        served.over.set()
        server.shutdown()
        server.server_close()
        thread.join()
