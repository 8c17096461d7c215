"""A writer of the folder store, killed at each of its calls in turn: no empty slot, no half entry, no slot lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.killed import KEY


def aftermaths(work: str, folder: Path) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.killed", work, str(folder)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def created(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return aftermaths("create", tmp_path_factory.mktemp("create"))


def test_the_writer_was_killed_around_everything_that_it_does_to_the_disk(created: list[dict[str, Any]]) -> None:
    points = {found["point"] for found in created}
    assert {
        f"{when} {call}"
        for when in ("before", "after")
        for call in ("mkdir", "open", "write", "flush", "fsync", "link", "unlink")
    } <= points


def test_a_slot_is_whole_or_not_there(created: list[dict[str, Any]]) -> None:
    assert {found["content"] for found in created} == {"none", "new"}
    for found in created:
        assert found["listed"] == ([KEY] if found["content"] == "new" else []), found["point"]


def test_a_slot_that_is_not_there_can_be_filled_by_the_next_writer(created: list[dict[str, Any]]) -> None:
    for found in created:
        assert found["again"] == ("exists" if found["content"] == "new" else "stored"), found["point"]
        assert found["content_then"] == "new"


def test_a_slot_appears_with_its_link_and_not_before(created: list[dict[str, Any]]) -> None:
    linked = [found["point"] for found in created].index("after link")
    assert {found["content"] for found in created[:linked]} == {"none"}
    assert {found["content"] for found in created[linked:]} == {"new"}


def test_a_head_is_the_old_one_or_the_new_one(tmp_path: Path) -> None:
    found = aftermaths("replace", tmp_path)
    assert {one["content"] for one in found} == {"old", "new"}
    assert {one["content_then"] for one in found} == {"new"}
    assert {"before flock", "after flock", "before rename", "after rename"} <= {one["point"] for one in found}
