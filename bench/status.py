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


def looking(ground: Ground, folder: Path) -> list[Row]:
    """Count on moto, whose log has every request; take the time on a real server, which is faster."""
    with s3_servers.moto() as moto:
        counted = _cold_and_warm(ground, moto, folder / "moto")
    with s3_servers.seaweedfs() as server:
        timed = _cold_and_warm(ground, server, folder / "server")
    (cold, warm), (first, again) = counted, timed
    return [
        Row(_SECTION, "requests, cold", cold.requests, ""),
        Row(_SECTION, "requests, warm", warm.requests, "", promised=_PROMISED_REQUESTS),
        Row(_SECTION, "seconds, cold", first.seconds, "s", promised=_PROMISED_SECONDS),
        Row(_SECTION, "seconds, warm", again.seconds, "s"),
    ]


def _cold_and_warm(ground: Ground, server: Server, folder: Path) -> tuple[_Look, _Look]:
    write_many(folder, server, server.make_bucket("many-modules"), _MODULES)
    return _look(ground, server, folder), _look(ground, server, folder)


def _look(ground: Ground, server: Server, folder: Path) -> _Look:
    if server.app:
        server.app.requests.clear()
    env = {**ground.env, **s3_servers.environment()}
    cost = measured([HYBRIDWRAP, "status"], folder, env, folder / "status.log")
    return _Look(cost.seconds, len(server.app.requests) if server.app else 0)
