"""What all tests share: the real engines of this machine, and a word in the header on which of them there are."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from tests.support.engines import engines
from tests.support.pages import Check, Screen, refresh, shown
from tools.transcripts import lasting

pytest_plugins = ("tests.support.fakecloud.fixtures", "tests.support.s3_fixtures")

_FOUND = {name: engine is not None for name, engine in engines().items()}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--refresh-pages", action="store_true", help="write what was played into the documentation")


def pytest_report_header() -> str:
    words = [f"{name} ({'found' if found else 'NOT FOUND, not tested'})" for name, found in _FOUND.items()]
    return f"engines: {', '.join(words)}"


@pytest.fixture(params=[name for name, found in _FOUND.items() if found])
def engine_program(request: pytest.FixtureRequest) -> str:
    """Every engine that is on this machine, as a manifest names it."""
    name: str = request.param
    return name


@pytest.fixture
def check(request: pytest.FixtureRequest) -> Check:
    """Compare what a scene has printed with what its page shows for it."""

    def compare(scene: str, screen: Screen) -> None:
        if request.config.getoption("--refresh-pages"):
            refresh(scene, screen)
        assert lasting(screen.text) == lasting(shown(scene)), "next: the same test with --refresh-pages"

    return compare


# How fast examples are made says something about the machine, nothing about the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
