"""What all tests share: the real engines of this machine, and a word in the header on which of them there are."""

from __future__ import annotations

import os
import signal
from hashlib import sha256

import pytest
from hypothesis import HealthCheck, settings

from tests.support.engines import engines
from tests.support.pages import Check, Screen, refresh, shown
from tools.transcripts import lasting

pytest_plugins = (
    "tests.support.processes",
    "tests.support.fakecloud.fixtures",
    "tests.support.prepared",
    "tests.support.s3_fixtures",
)

# What a profile, a job of a CI system, a hook of git or a narrow window would have commands do otherwise.
STEERING = (
    *("ARGO_", "AWS_", "CI_", "GITHUB_", "GITLAB_", "RUNNER_", "HYBRIDWRAP_", "TF_"),
    *("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"),
)
_FOUND = {name: engine is not None for name, engine in engines().items()}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--refresh-pages", action="store_true", help="write what was played into the documentation")
    parser.addoption(
        "--draw-engine", metavar="SEED", help="run each test with one of the engines, drawn by this word, not with all"
    )


def pytest_configure() -> None:
    """Take from tests what depends on whose machine this is, and on who has started them.

    A shell has what it runs in the background ignore Ctrl-C, and so would all that tests start and interrupt.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in [name for name in os.environ if name.startswith(STEERING)]:
        del os.environ[name]


def pytest_report_header(config: pytest.Config) -> str:
    words = [f"{name} ({'found' if found else 'NOT FOUND, not tested'})" for name, found in _FOUND.items()]
    seed = config.getoption("--draw-engine")
    return f"engines: {', '.join(words)}" + (f"; one for each test, drawn by --draw-engine {seed}" if seed else "")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = config.getoption("--draw-engine")
    if seed:
        left_out = [item for item in items if not _is_drawn(item, seed)]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


def _is_drawn(item: pytest.Item, seed: str) -> bool:
    """Whether a test has no engine to choose, or has the one that is its lot."""
    callspec = getattr(item, "callspec", None)
    engine = callspec and callspec.params.get("engine_program")
    if not isinstance(engine, str):
        return True
    found = [name for name, found in _FOUND.items() if found]
    lot = sha256(f"{seed} {item.nodeid.replace(engine, '')}".encode()).digest()[0]
    return found[lot % len(found)] == engine


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
