"""Who waits for whom when engines share a folder or a plugin cache."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from hybridwrap.adapters.engine.file_locks import filling_cache, initialising_in, planning_in


def is_free(lock: Path, kind: int) -> bool:
    """Whether the lock could be had at once by somebody else."""
    with lock.open("r+b") as file:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def test_planners_share_a_folder_and_an_init_waits_for_them(tmp_path: Path) -> None:
    source, home = tmp_path / "net", tmp_path / "home"
    with planning_in(source, home), planning_in(source, home):
        (lock,) = (home / "cache/locks").iterdir()
        assert not is_free(lock, fcntl.LOCK_EX)
    with initialising_in(source, home):
        assert not is_free(lock, fcntl.LOCK_SH)
    assert is_free(lock, fcntl.LOCK_EX)


def test_another_folder_is_not_waited_for(tmp_path: Path) -> None:
    with initialising_in(tmp_path / "a", tmp_path), initialising_in(tmp_path / "b", tmp_path):
        pass


def test_one_init_at_a_time_fills_a_cache_wherever_its_home_is(tmp_path: Path) -> None:
    with filling_cache({"TF_PLUGIN_CACHE_DIR": str(tmp_path)}, None):
        assert not is_free(tmp_path / ".hybridwrap.lock", fcntl.LOCK_SH)


@pytest.mark.parametrize("env", [{}, {"TF_PLUGIN_CACHE_DIR": "/nowhere/cache"}])
def test_without_a_cache_nobody_waits(env: dict[str, str]) -> None:
    with filling_cache(env, None), filling_cache(env, None):
        pass
