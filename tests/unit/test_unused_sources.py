"""Fetched sources that nobody has used for long go; those that somebody uses, or needs for a teardown, stay."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

import pytest

from hybridwrap.adapters.remote_sources import Remote, RemoteSources
from hybridwrap.adapters.unused_sources import mark_used, sweep_unused, using
from hybridwrap.domain.json import canonical

NOW = time.time()
DAY = 86_400
VPC = Remote("git::https://example.com/vpc.git?ref=v1")


class Home:
    """With versions of one source, each last used so many days ago; the last one is the current one."""

    def __init__(self, root: Path, **days: float) -> None:
        self.path = root / ".hybridwrap"
        self.sources = RemoteSources(root, "shop", {})
        self.place = self.sources.place(VPC)
        for version, ago in days.items():
            inner = self.place / version / "inner"
            inner.mkdir(parents=True)
            (inner / "main.tf").touch()
            os.utime(self.place / version, (NOW - ago * DAY, NOW - ago * DAY))
            (self.place / "current.json").write_bytes(canonical({"folder": f"{version}/inner", "resolved": version}))

    def sweep(self, *keep: Path) -> list[str]:
        return [folder.name for folder in sweep_unused(self.path, NOW, keep)]

    @property
    def left(self) -> list[str]:
        return sorted(folder.name for folder in self.place.iterdir() if folder.is_dir())


def test_what_nobody_has_used_for_thirty_days_goes(tmp_path: Path) -> None:
    home = Home(tmp_path, v1=31, v2=29)
    assert home.sweep() == ["v1"]
    assert home.left == ["v2"]
    assert home.sweep() == []


def test_what_is_taken_is_used_and_stays(tmp_path: Path) -> None:
    home = Home(tmp_path, v1=90)
    assert home.sources.take(VPC) is not None
    assert home.sweep() == []


def test_to_look_is_no_use_and_writes_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path, v1=90)
    assert home.sources.known(VPC) is not None
    assert home.sweep() == ["v1"]
    assert home.sources.known(VPC) is None, "it is fetched again when it is wanted"


def test_the_source_of_a_module_that_may_have_to_be_torn_down_stays(tmp_path: Path) -> None:
    home = Home(tmp_path, v1=90, v2=90)
    assert home.sweep(home.place / "v1" / "inner") == ["v2"]
    assert home.left == ["v1"]


def test_nothing_goes_while_somebody_looks_for_one(tmp_path: Path) -> None:
    home = Home(tmp_path, v1=90)
    with using(home.place):
        assert home.sweep() == []
        mark_used(home.place / "v1")
    assert home.sweep() == []


def test_whoever_looks_waits_for_who_removes(tmp_path: Path) -> None:
    home = Home(tmp_path, v1=90)
    with (home.place / ".lock").open("w") as file, using(home.place), pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_what_a_killed_fetch_or_sweep_has_left_goes_too(tmp_path: Path) -> None:
    home = Home(tmp_path, **{".new-abc": 40, ".old-v0": 40, "v2": 1})
    assert sorted(home.sweep()) == [".new-abc", ".old-v0"]
    assert home.left == ["v2"]


def test_an_error_of_who_uses_a_source_is_not_swallowed(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), using(tmp_path / "nowhere"):
        (tmp_path / "nothing").read_bytes()


def test_a_home_without_any_is_left_alone(tmp_path: Path) -> None:
    assert sweep_unused(tmp_path / "nowhere", NOW, ()) == ()
