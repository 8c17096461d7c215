"""A server on this machine that speaks as much of GitHub's and GitLab's interfaces as comments take; and a webhook."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "a-token-of-nobody"


@dataclass
class Refusal:
    """What the next requests of a method get for an answer; with `lands` they are carried out all the same."""

    method: str
    status: int  # 0: the connection is closed without an answer
    times: int = 1
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b'{"message": "no reason"}'
    lands: bool = False


@dataclass
class Forge:
    """Comments of pull request 7 of acme/shop, which is merge request 7 of project 42."""

    comments: dict[int, str] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)  # method and path
    messages: list[Any] = field(default_factory=list)
    page: int = 100
    merged: bool = True
    address: str = ""

    def refusal(self, method: str) -> Refusal | None:
        for refusal in self.refusals:
            if refusal.method == method and refusal.times:
                refusal.times -= 1
                return refusal
        return None

    def answer(self, method: str, target: str, sent: Any) -> tuple[int, Any, dict[str, str]]:
        url = urlsplit(target)
        match method, url.path:
            case "GET", "/api/v3/repos/acme/shop/issues/7/comments" | "/api/v4/projects/42/merge_requests/7/notes":
                return self._page(target, int(parse_qs(url.query).get("page", ["1"])[0]))
            case "POST", "/api/v3/repos/acme/shop/issues/7/comments" | "/api/v4/projects/42/merge_requests/7/notes":
                self.comments[max(self.comments, default=0) + 1] = sent["body"]
                return 201, {}, {}
            case "GET", "/api/v3/repos/acme/shop/commits/abc/pulls":
                return 200, [{"number": 7, "merged_at": "2026-01-01" if self.merged else None}], {}
            case "GET", "/api/v4/projects/42/repository/commits/abc/merge_requests":
                return 200, [{"iid": 7, "state": "merged" if self.merged else "opened"}], {}
            case "POST", "/hook/secret":
                self.messages.append(sent)
                return 200, {}, {}
        return self._updated(method, url.path, sent)

    def _page(self, target: str, number: int) -> tuple[int, Any, dict[str, str]]:
        listed = [{"id": id_, "body": body} for id_, body in self.comments.items()]
        more = len(listed) > number * self.page
        here = listed[(number - 1) * self.page : number * self.page]
        following = re.sub(r"&page=\d+", "", target) + f"&page={number + 1}"
        link = (
            {"Link": f'<{self.address}{following}>; rel="next", <{self.address}{target}>; rel="last"'} if more else {}
        )
        return 200, here, {"X-Next-Page": str(number + 1) if more else "", **link}

    def _updated(self, method: str, path: str, sent: Any) -> tuple[int, Any, dict[str, str]]:
        places = {"PATCH": r".*/repos/acme/shop/issues/comments/(\d+)", "PUT": r".*/merge_requests/7/notes/(\d+)"}
        found = re.fullmatch(places.get(method, "-"), path)
        if found and int(found[1]) in self.comments:
            self.comments[int(found[1])] = sent["body"]
            return 200, {}, {}
        return 404, {"message": "Not Found"}, {}


class Handler(BaseHTTPRequestHandler):
    """Answers for the forge that its subclass has."""

    served: Forge

    def do_GET(self) -> None:
        self._any()

    do_POST = do_PATCH = do_PUT = do_GET  # noqa: N815

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.served.asked.append((self.command, urlsplit(self.path).path))
        refusal = self.served.refusal(self.command)
        if refusal is None or refusal.lands:
            status, answer, headers = self._authorised(json.loads(body) if body else None)
            data = json.dumps(answer).encode()
        if refusal:
            status, data, headers = refusal.status, refusal.body, refusal.headers
        if not status:
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _authorised(self, sent: Any) -> tuple[int, Any, dict[str, str]]:
        tokens = (self.headers.get("Authorization"), self.headers.get("PRIVATE-TOKEN"))
        if tokens not in ((f"Bearer {TOKEN}", None), (None, TOKEN)) and not self.path.startswith("/hook/"):
            return 401, {"message": "Bad credentials"}, {}
        return self.served.answer(self.command, self.path, sent)

    def log_message(self, *_args: Any) -> None: ...


@contextmanager
def forge() -> Iterator[Forge]:
    served = Forge()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Serving", (Handler,), {"served": served}))
    served.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
