"""S3 servers on loopback: moto made linearizable, with faults on request, and the real server of SeaweedFS."""

from __future__ import annotations

import json
import logging
import os
import re
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from typing import Any

import boto3

from demo.s3_server import s3_server

KEY_ID = "AKIATESTONLY"
SECRET = "test-only-secret"
REGION = "us-east-1"

WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


@dataclass
class Fault:
    """An answer to give instead of the server's own, to requests that match, `times` times."""

    method: str = ".*"
    path: str = ".*"
    status: int = 500
    code: str = "InternalError"
    message: str = "injected"
    headers: dict[str, str] = field(default_factory=dict)
    times: int = 1_000_000
    body: bytes | None = None  # instead of an error in XML
    store: bool = False  # let the server do the work, then lose its answer

    def matches(self, environ: dict[str, Any]) -> bool:
        return (
            self.times > 0
            and re.fullmatch(self.method, environ["REQUEST_METHOD"]) is not None
            and re.search(self.path, environ["PATH_INFO"]) is not None
        )


@dataclass
class OneAtATime:
    """A WSGI app whose requests are served one after the other: moto's own conditional writes check, then set."""

    app: WsgiApp
    faults: list[Fault] = field(default_factory=list)
    conditional: bool = True
    requests: list[tuple[str, str]] = field(default_factory=list)
    targets: list[tuple[str, str]] = field(default_factory=list)  # the same with the query
    callers: list[tuple[str, str]] = field(default_factory=list)  # id of the key that signed, path
    _lock: Lock = field(default_factory=Lock)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = BytesIO(body)
        with self._lock:
            self.requests.append((environ["REQUEST_METHOD"], environ["PATH_INFO"]))
            self.targets.append((environ["REQUEST_METHOD"], f"{environ['PATH_INFO']}?{environ['QUERY_STRING']}"))
            signed = re.search(r"Credential=([^/]+)/", environ.get("HTTP_AUTHORIZATION", ""))
            self.callers.append((signed[1] if signed else "", environ["PATH_INFO"]))
            if not self.conditional:
                environ.pop("HTTP_IF_NONE_MATCH", None)
                environ.pop("HTTP_IF_MATCH", None)
            fault = next((fault for fault in self.faults if fault.matches(environ)), None)
            if fault is None:
                return list(self.app(environ, start_response))
            fault.times -= 1
            if fault.store:
                list(self.app(environ, lambda *_: None))
        return _error(fault, start_response)


def _error(fault: Fault, start_response: Callable[..., Any]) -> Iterable[bytes]:
    text = f"<Error><Code>{fault.code}</Code><Message>{fault.message}</Message></Error>".encode()
    text = text if fault.body is None else fault.body
    headers = {"Content-Type": "application/xml", "Content-Length": str(len(text)), **fault.headers}
    start_response(f"{fault.status} injected", list(headers.items()))
    return [text]


@dataclass
class Server:
    endpoint: str
    app: OneAtATime | None = None

    def make_bucket(self, name: str) -> str:
        self.client().create_bucket(Bucket=name)
        return name

    def state(self, bucket: str, **more: object) -> str:
        """The line of a manifest that has the state in a bucket, and the ledger beside it."""
        return f"state: {{s3: {json.dumps(self.backend(bucket, **more))}}}\n"

    def backend(self, bucket: str, **more: object) -> dict[str, object]:
        """Settings of an engine's S3 backend that ask this server for no more than it has."""
        place = {"bucket": bucket, "region": REGION, "endpoints": {"s3": self.endpoint}, "use_path_style": True}
        checks = ("credentials_validation", "requesting_account_id", "metadata_api_check", "region_validation")
        return {**place, **{f"skip_{check}": True for check in checks}, **more}

    def client(self) -> Any:
        session: Any = boto3.Session(KEY_ID, SECRET, region_name=REGION)
        return session.client("s3", endpoint_url=self.endpoint)


@contextmanager
def moto() -> Iterator[Server]:
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app = OneAtATime(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Server(f"http://127.0.0.1:{server.server_port}", app)
    finally:
        server.shutdown()
        thread.join()


@contextmanager
def seaweedfs() -> Iterator[Server]:
    """The real server of SeaweedFS, as the demo uses it."""
    with TemporaryDirectory() as folder, s3_server(Path(folder), "ready", access_key=KEY_ID, secret_key=SECRET) as real:
        yield Server(real.endpoint)


@contextmanager
def nobody() -> Iterator[str]:
    """An address at which nobody answers, nor can begin to as long as this lasts."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


def environment() -> dict[str, str]:
    """Variables that give the SDK the test's credentials and keep it from looking elsewhere."""
    return {
        "AWS_ACCESS_KEY_ID": KEY_ID,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
