"""A moto server in a process of its own, so that its work is nobody else's, with a count of the S3 requests.

`python -m bench.moto_server` prints its port, and ends with its standard input.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

_REPOSITORY = Path(__file__).parents[1]
_COUNTS = "/requests"

WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


@dataclass(frozen=True, slots=True)
class Server:
    port: int

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def reset(self) -> None:
        """Forget everything: objects, machines and counts."""
        self._ask("POST", "/moto-api/reset")
        self.requests()

    def requests(self) -> Mapping[str, int]:
        """Requests since the last call, as `CLIENT METHOD`: the client is boto or engine, the method may be LIST."""
        counts: dict[str, int] = json.loads(self._ask("GET", _COUNTS))
        return counts

    def _ask(self, method: str, path: str) -> bytes:
        connection = HTTPConnection("127.0.0.1", self.port)
        with closing(connection):
            connection.request(method, path)
            return connection.getresponse().read()


@contextmanager
def moto_server() -> Iterator[Server]:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.moto_server"],
        cwd=_REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield Server(int(process.stdout.readline() if process.stdout else 0))
    finally:
        process.communicate()  # the end of its standard input ends it


class Counting:
    """Count the requests to an application that is asked one at a time."""

    def __init__(self, application: WsgiApp) -> None:
        self.application = application
        self.counts: Counter[str] = Counter()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] == _COUNTS:
            counts, self.counts = self.counts, Counter()
            start_response("200 OK", [("Content-Type", "application/json")])
            return [json.dumps(counts).encode()]
        self.counts[_kind(environ)] += 1
        return self.application(environ, start_response)


def _kind(environ: dict[str, Any]) -> str:
    client = "boto" if environ.get("HTTP_USER_AGENT", "").startswith("Boto3") else "engine"
    listing = environ["REQUEST_METHOD"] == "GET" and "list-type=" in environ["QUERY_STRING"]
    return f"{client} {'LIST' if listing else environ['REQUEST_METHOD']}"


def _serve() -> None:
    from tests.support.s3_servers import moto

    with moto() as server:
        if server.app is not None:
            server.app.app = Counting(server.app.app)
        sys.stdout.write(f"{server.endpoint.rpartition(':')[2]}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    _serve()
