"""A small stack for runs in which something dies, and the scorecard that its tests fill."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path

import pytest

from hybridwrap.domain import json
from tests.support import s3_servers
from tests.support.lost_runner import write_stack
from tests.support.pages import Screen
from tests.support.project import Project
from tests.support.s3_servers import Server

_buckets = count()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all-faults", action="store_true", help="the whole matrix of faults, not only a sample")
    parser.addoption("--scorecard", help="a file to which each fault appends what was measured, as a line of JSON")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "matrix: one of many like it, run by `make faults` alone")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--all-faults", default=False):
        return
    left_out = [item for item in items if item.get_closest_marker("matrix")]
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)


class Score:
    """What the faults of one test have shown."""

    def __init__(self, file: str | None, test: str) -> None:
        self._file = file
        self._test = test

    def add(self, **measured: object) -> None:
        if self._file:
            with Path(self._file).open("ab") as lines:
                lines.write(json.canonical({"test": self._test, **measured}) + b"\n")


@pytest.fixture
def score(request: pytest.FixtureRequest) -> Score:
    return Score(request.config.getoption("--scorecard", default=None), request.node.nodeid)


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
    write_stack(project, more=moto.state(bucket))
    yield project
    assert moto.app
    moto.app.faults.clear()


@pytest.fixture
def screen(project: Project) -> Screen:
    return Screen(project)
