"""A server on this machine that speaks as much of GitHub's and GitLab's interfaces as comments take; and a webhook."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.http_server import Answer, Request, serving

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

    def answer(self, request: Request) -> Answer | None:
        self.asked.append((request.method, urlsplit(request.target).path))
        refusal = self._refusal(request.method)
        answer = self._authorised(request) if refusal is None or refusal.lands else None
        if refusal:
            return Answer(refusal.status, refusal.body, refusal.headers) if refusal.status else None
        return answer

    def _refusal(self, method: str) -> Refusal | None:
        for refusal in self.refusals:
            if refusal.method == method and refusal.times:
                refusal.times -= 1
                return refusal
        return None

    def _authorised(self, request: Request) -> Answer:
        tokens = (request.headers.get("Authorization"), request.headers.get("PRIVATE-TOKEN"))
        if tokens not in ((f"Bearer {TOKEN}", None), (None, TOKEN)) and not request.target.startswith("/hook/"):
            return Answer(401, {"message": "Bad credentials"})
        return self._carried_out(request.method, request.target, request.sent)

    def _carried_out(self, method: str, target: str, sent: Any) -> Answer:
        url = urlsplit(target)
        match method, url.path:
            case "GET", "/api/v3/repos/acme/shop/issues/7/comments" | "/api/v4/projects/42/merge_requests/7/notes":
                return self._page(target, int(parse_qs(url.query).get("page", ["1"])[0]))
            case "POST", "/api/v3/repos/acme/shop/issues/7/comments" | "/api/v4/projects/42/merge_requests/7/notes":
                self.comments[max(self.comments, default=0) + 1] = sent["body"]
                return Answer(201, {})
            case "GET", "/api/v3/repos/acme/shop/commits/abc/pulls":
                return Answer(200, [{"number": 7, "merged_at": "2026-01-01" if self.merged else None}])
            case "GET", "/api/v4/projects/42/repository/commits/abc/merge_requests":
                return Answer(200, [{"iid": 7, "state": "merged" if self.merged else "opened"}])
            case "POST", "/hook/secret":
                self.messages.append(sent)
                return Answer(200, {})
        return self._updated(method, url.path, sent)

    def _page(self, target: str, number: int) -> Answer:
        listed = [{"id": id_, "body": body} for id_, body in self.comments.items()]
        more = len(listed) > number * self.page
        here = listed[(number - 1) * self.page : number * self.page]
        following = re.sub(r"&page=\d+", "", target) + f"&page={number + 1}"
        link = (
            {"Link": f'<{self.address}{following}>; rel="next", <{self.address}{target}>; rel="last"'} if more else {}
        )
        return Answer(200, here, {"X-Next-Page": str(number + 1) if more else "", **link})

    def _updated(self, method: str, path: str, sent: Any) -> Answer:
        places = {"PATCH": r".*/repos/acme/shop/issues/comments/(\d+)", "PUT": r".*/merge_requests/7/notes/(\d+)"}
        found = re.fullmatch(places.get(method, "-"), path)
        if found and int(found[1]) in self.comments:
            self.comments[int(found[1])] = sent["body"]
            return Answer(200, {})
        return Answer(404, {"message": "Not Found"})


@contextmanager
def forge() -> Iterator[Forge]:
    served = Forge()
    with serving(served.answer) as served.address:
        yield served
