"""How many S3 requests hybridwrap itself makes for one module more, with state and ledger in S3."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import boto3

from bench.ground import Ground, hybridwrap_apply
from bench.moto_server import Server
from bench.report import Row
from tests.support import stacks

_SECTION = "S3 requests of hybridwrap, a module"
_FEW, _MANY = 5, 15  # what a run costs without any module cancels out
_PROMISED = {("applied", "PUT"): 5.0, ("applied", "GET"): 3.0, ("unchanged", "PUT"): 0.0}
_METHODS = ("PUT", "GET", "HEAD", "LIST", "DELETE")
_BUCKET = "stacks"
_CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}

Counts = Mapping[str, int]


def counted(ground: Ground, folder: Path) -> list[Row]:
    few, many = (_both_runs(ground, folder / str(count), count) for count in (_FEW, _MANY))
    return [_row(run, method, few[run], many[run]) for run in ("applied", "unchanged") for method in _METHODS]


def _row(run: str, method: str, few: Counts, many: Counts) -> Row:
    name = f"boto {method}"
    each = (many.get(name, 0) - few.get(name, 0)) / (_MANY - _FEW)
    return Row(_SECTION, f"{method}, {run}", each, "", promised=_PROMISED.get((run, method)))


def _both_runs(ground: Ground, folder: Path, count: int) -> Mapping[str, Counts]:
    ground.moto.reset()
    _make_bucket(ground.moto)
    stack = stacks.independent(folder, count, settings=_settings(ground.moto.endpoint))
    env = {**ground.env, **_CREDENTIALS}
    counts = {}
    for run in ("applied", "unchanged"):
        ground.moto.requests()
        hybridwrap_apply(stack.path, env)
        counts[run] = ground.moto.requests()
    return counts


def _make_bucket(moto: Server) -> None:
    boto3.client(
        "s3",
        region_name="us-east-1",
        endpoint_url=moto.endpoint,
        aws_access_key_id="test",
        aws_secret_access_key="test",  # noqa: S106  moto takes any
    ).create_bucket(Bucket=_BUCKET)


def _settings(endpoint: str) -> Mapping[str, object]:
    place = {"bucket": _BUCKET, "region": "us-east-1", "use_path_style": True}
    skip = {
        "skip_credentials_validation": True,
        "skip_requesting_account_id": True,
        "skip_metadata_api_check": True,
        "skip_region_validation": True,
    }
    return {
        "state": {"s3": {**place, "endpoints": {"s3": endpoint}, "use_lockfile": True, **skip}},
        "ledger": {"s3": {**place, "endpoint": endpoint, "prefix": "ledger/"}},
    }
