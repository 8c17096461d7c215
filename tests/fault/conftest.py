"""A small stack for runs in which something dies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path

import pytest

from tests.support import s3_servers
from tests.support.lost_runner import S3_STATE, write_stack
from tests.support.project import Project
from tests.support.s3_servers import Server

_buckets = count()


@pytest.fixture
def project(tmp_path: Path, fakecloud_env: Mapping[str, str], engine_program: str) -> Project:
    """State and ledger in folders, with every engine that is on this machine."""
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, fakecloud_env)
    write_stack(project, engine_program)
    return project


@pytest.fixture
def on_s3(moto: Server, tmp_path: Path, fakecloud_env: Mapping[str, str]) -> Iterator[Project]:
    """State, with the engine's lock, and ledger in one bucket."""
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, {**fakecloud_env, **s3_servers.environment(), "HYBRIDWRAP_SETTLE": "0"})
    bucket = moto.make_bucket(f"fault-{next(_buckets)}")
    write_stack(project, more=S3_STATE.format(bucket=bucket, endpoint=moto.endpoint))
    yield project
    assert moto.app
    moto.app.faults.clear()
