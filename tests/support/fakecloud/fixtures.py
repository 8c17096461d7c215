"""Fixtures: a cloud of its own for each test, and what an engine needs to reach it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.serving import SharedProvider, mirror_environment


@pytest.fixture(scope="session")
def shared_provider(session_word: str) -> Iterator[SharedProvider]:
    provider = SharedProvider(session_word)
    yield provider
    provider.close()


@pytest.fixture
def cloud(tmp_path: Path) -> Cloud:
    return Cloud(tmp_path / "cloud.db")


@pytest.fixture
def fakecloud_env(shared_provider: SharedProvider, cloud: Cloud) -> Mapping[str, str]:
    """The environment of an engine that shares the session's provider."""
    return shared_provider.environment(cloud)


@pytest.fixture
def fakecloud_plugin_env(tmp_path: Path, cloud: Cloud) -> Mapping[str, str]:
    """The environment of an engine that starts a plugin process of its own: slower, and as it is in the field."""
    return mirror_environment(tmp_path, cloud)
