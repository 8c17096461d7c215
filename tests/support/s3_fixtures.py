"""Fixtures: S3 servers for all tests of a session, and the variables that lead the SDK to them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.support import s3_servers
from tests.support.processes import carried
from tests.support.s3_servers import Server


@pytest.fixture(scope="session")
def aws_environment() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in s3_servers.environment().items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="session")
def moto(aws_environment: None) -> Iterator[Server]:
    with s3_servers.moto() as server:
        yield server


@pytest.fixture(scope="session")
def seaweedfs(aws_environment: None, session_word: str) -> Iterator[Server]:
    with ExitStack() as until_the_end:
        with carried(session_word):
            server = until_the_end.enter_context(s3_servers.seaweedfs())
        yield server
