"""A proxy on loopback that passes bytes on and counts the HTTP requests among them."""

from __future__ import annotations

import re
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Thread
from urllib.parse import unquote, urlsplit

REQUEST = re.compile(rb"(GET|PUT|HEAD|POST|DELETE) (/\S*) HTTP/1\.1\r\n")
LONGEST_LINE = 4096  # of a request: it may arrive in two pieces


class CountingProxy:
    """Listens at `endpoint`; `requests` counts by method and what the key is of."""

    def __init__(self, server: str) -> None:
        url = urlsplit(server)
        self._server = (url.hostname or "", url.port or 80)
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=256)
        self._lock = Lock()
        self.endpoint = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.requests: Counter[tuple[str, str]] = Counter()

    def serve(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:  # closed: it is over
                return
            Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def _pass_on(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._server) as server, suppress(OSError):
            Thread(target=_copy, args=(server, client), daemon=True).start()
            tail = b""
            while data := client.recv(65536):
                server.sendall(data)
                tail = self._count(tail + data)
            server.shutdown(socket.SHUT_WR)

    def _count(self, data: bytes) -> bytes:
        """Count the request lines in some bytes; return those that may be the beginning of the next one."""
        end = 0
        for found in REQUEST.finditer(data):
            end = found.end()
            with self._lock:
                self.requests[_kind(found[1].decode(), found[2].decode())] += 1
        return data[max(end, len(data) - LONGEST_LINE) :]


def _kind(method: str, target: str) -> tuple[str, str]:
    """`("LIST", "parts")` of a request for one listing of parts."""
    url = urlsplit(target)
    key = unquote(url.query if "list-type" in url.query else url.path)
    found = re.search(r"v1/[^/]+/[^/]+/(\w+)", key)
    return ("LIST" if "list-type" in url.query else method, found[1] if found else "other")


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@contextmanager
def counting_proxy(server: str) -> Iterator[CountingProxy]:
    proxy = CountingProxy(server)
    thread = Thread(target=proxy.serve, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.close()
