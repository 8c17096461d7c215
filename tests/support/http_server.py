"""A server on this machine that answers HTTP as a test wants it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from msgspec import Struct


class Request(Struct, frozen=True):
    method: str
    target: str  # path and query
    headers: Message
    sent: Any  # parsed JSON


class Answer(Struct, frozen=True):
    """`content` is sent as JSON, or as it is when it is bytes."""

    status: int
    content: Any = None
    headers: Mapping[str, str] = {}

    def data(self) -> bytes:
        return self.content if isinstance(self.content, bytes) else json.dumps(self.content).encode()


class _Handler(BaseHTTPRequestHandler):
    answer: Callable[[Request], Answer | None]

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = type(self).answer(Request(self.command, self.path, self.headers, json.loads(body) if body else None))
        if answer is None:
            self.close_connection = True
            return
        data = answer.data()
        self.send_response(answer.status)
        for name, value in {**answer.headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_PATCH = do_PUT = do_GET  # noqa: N815

    def log_message(self, *_args: Any) -> None: ...


@contextmanager
def serving(answer: Callable[[Request], Answer | None]) -> Iterator[str]:
    """Answer every request, each in a thread of its own; None closes the connection. Yields the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Serving", (_Handler,), {"answer": staticmethod(answer)}))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
