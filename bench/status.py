"""What `status` of 1,000 modules over S3 costs: requests, and seconds on a host that has never looked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bench.ground import HYBRIDWRAP, Ground
from bench.process import measured
from bench.report import Row
from tests.support import s3_servers
from tests.support.many_modules import write_many
from tests.support.s3_servers import Server

_MODULES = 1000
_SECTION = f"status of {_MODULES} modules over S3"
_PROMISED_REQUESTS = 3
_PROMISED_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class _Look:
    seconds: float
    requests: int  # 0 where the server does not count


@dataclass(frozen=True, slots=True)
class _Looks:
    unpacked: _Look  # by a host that has never looked, at a ledger whose heads nobody has packed
    cold: _Look  # by another one, after a run
    warm: _Look


def looking(ground: Ground, folder: Path) -> list[Row]:
    """Count on moto, whose log has every request; take the time on a real server, which is faster."""
    with s3_servers.moto() as moto:
        counted = _looks(ground, moto, folder / "moto")
    with s3_servers.seaweedfs() as server:
        timed = _looks(ground, server, folder / "server")
    return [
        Row(_SECTION, "requests, cold", counted.cold.requests, ""),
        Row(_SECTION, "requests, cold, no run since the heads were written", counted.unpacked.requests, ""),
        Row(_SECTION, "requests, warm", counted.warm.requests, "", promised=_PROMISED_REQUESTS),
        Row(_SECTION, "seconds, cold", timed.cold.seconds, "s", promised=_PROMISED_SECONDS),
        Row(_SECTION, "seconds, cold, no run since the heads were written", timed.unpacked.seconds, "s"),
        Row(_SECTION, "seconds, warm", timed.warm.seconds, "s"),
    ]


def _looks(ground: Ground, server: Server, folder: Path) -> _Looks:
    last = write_many(folder, server, server.make_bucket("many-modules"), _MODULES)
    unpacked = _look(ground, server, folder, "first")
    _measure(ground, folder, "somebody", "apply", last, "--auto-approve")
    return _Looks(unpacked, _look(ground, server, folder, "new"), _look(ground, server, folder, "new"))


def _look(ground: Ground, server: Server, folder: Path, host: str) -> _Look:
    if server.app:
        server.app.requests.clear()
    seconds = _measure(ground, folder, host, "status")
    return _Look(seconds, len(server.app.requests) if server.app else 0)


def _measure(ground: Ground, folder: Path, host: str, *argv: str) -> float:
    env = {**ground.env, **s3_servers.environment(), "HYBRIDWRAP_HOME": str(folder / host)}
    return measured([HYBRIDWRAP, *argv], folder, env, folder / f"{host}.log").seconds
