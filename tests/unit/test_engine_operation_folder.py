"""The files of an operation and what their locks prove."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from hybridwrap.adapters.home import home_of, make_home
from hybridwrap.adapters.operation_folder import Folder, Folders, Liveness, holding, liveness
from hybridwrap.errors import PreflightRefused


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folders(tmp_path / "home", "shop").make("01ABC")


def mode(path: Path) -> str:
    return f"{stat.S_IMODE(path.stat().st_mode):o}"


def test_everything_in_the_home_is_private_and_not_committed(tmp_path: Path, folder: Folder) -> None:
    folder.lock()
    folder.keep_result(b"{}")
    assert [mode(path) for path in (tmp_path / "home", folder.path)] == ["700", "700"]
    assert {mode(file) for file in folder.path.iterdir()} == {"600"}
    assert (tmp_path / "home/.gitignore").read_text() == "*\n"


def test_a_result_is_replaced_whole(folder: Folder) -> None:
    folder.keep_result(b"first")
    folder.keep_result(b"second")
    assert (folder.path / "result.json").read_bytes() == b"second"
    assert {file.name for file in folder.path.iterdir()} == {"runner.lock", "result.json"}


def test_both_locks_free_is_death_and_nothing_else_is(folder: Folder) -> None:
    locks = folder.lock()
    assert liveness(locks) is Liveness.RUNNER
    engine = folder.hand_over()
    assert engine is not None
    assert liveness(locks) is Liveness.RUNNER
    folder.release()
    assert liveness(locks) is Liveness.ENGINE
    os.close(engine)
    assert liveness(locks) is Liveness.DEAD


def test_a_runner_alone_is_alive(folder: Folder) -> None:
    locks = folder.lock()
    engine = folder.hand_over()
    assert engine is not None
    os.close(engine)
    assert liveness(locks) is Liveness.RUNNER


@pytest.mark.parametrize("which", ["engine", "runner"])
@pytest.mark.parametrize("change", [{"inode": 1}, {"device": 1}, {"path": "/nowhere/events.jsonl"}])
def test_another_file_than_the_recorded_one_is_no_evidence(
    folder: Folder, which: str, change: dict[str, object]
) -> None:
    locks = folder.lock()
    folder.release()
    other = replace(getattr(locks, which), **change)
    assert liveness(replace(locks, **{which: other})) is Liveness.NOT_VISIBLE


def test_whoever_holds_a_dead_operation_holds_it_alone(folder: Folder) -> None:
    locks = folder.lock()
    folder.release()
    with holding(locks) as first, holding(locks) as second:
        assert (first, second) == (Liveness.DEAD, Liveness.RUNNER)
    with holding(locks) as again:
        assert again is Liveness.DEAD


def test_the_event_file_is_handed_over_once_and_only_when_it_is_locked(folder: Folder) -> None:
    assert folder.hand_over() is None
    folder.lock()
    engine = folder.hand_over()
    assert engine is not None
    os.close(engine)
    assert folder.hand_over() is None


def test_logs_are_masked_in_the_file_whose_lock_is_evidence(folder: Folder) -> None:
    locks = folder.lock()
    folder.events.write_bytes(b"one hunter2\r\n\xff\x00 hunter2 two\nhunter2")
    (folder.path / "stderr").write_text("fine\n")

    folder.rewrite_logs(lambda text: text.replace("hunter2", "*"))

    assert folder.events.read_bytes() == b"one *\r\n\xff\x00 * two\n*"
    assert (folder.path / "stderr").read_text() == "fine\n"
    folder.release()
    assert liveness(locks) is Liveness.DEAD
    assert {file.name for file in folder.path.iterdir()} == {"events.jsonl", "runner.lock", "stderr"}


def test_leftovers_of_the_dead_go_and_those_of_the_living_stay(tmp_path: Path) -> None:
    folders = Folders(tmp_path / "home", "shop")
    living, dead, clean = (folders.make(name) for name in ("living", "dead", "clean"))
    for folder in (living, dead):
        for name in ("plan", "vars.tfvars.json", "plan.jsonl"):
            (folder.path / name).write_text("secret")
    dead.release()
    clean.release()

    assert folders.clear_leftovers() == ("dead",)

    assert {file.name for file in dead.path.iterdir()} == {"runner.lock", "plan.jsonl"}
    assert (living.path / "plan").exists()


def test_there_are_no_leftovers_before_the_first_operation(tmp_path: Path) -> None:
    assert Folders(tmp_path / "home", "shop").clear_leftovers() == ()
    assert not (tmp_path / "home").exists()


def test_a_folder_that_cannot_be_made_is_refused_and_named(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/operations").write_text("in the way")
    with pytest.raises(PreflightRefused, match=r"home/operations/01ABC can't be made"):
        Folders(tmp_path / "home", "shop").make("01ABC")


def test_two_operations_never_share_a_folder(tmp_path: Path, folder: Folder) -> None:
    with pytest.raises(PreflightRefused, match="File exists"):
        Folders(tmp_path / "home", "shop").make(folder.operation)


def test_a_removed_folder_is_gone_with_its_locks(folder: Folder) -> None:
    locks = folder.lock()
    folder.remove()
    assert not folder.path.exists()
    assert liveness(locks) is Liveness.NOT_VISIBLE


def test_one_home_serves_one_stack(tmp_path: Path) -> None:
    make_home(tmp_path / "home", "shop")
    make_home(tmp_path / "home", "shop")
    with pytest.raises(PreflightRefused, match='belongs to the stack "shop", not to "office"'):
        make_home(tmp_path / "home", "office")


def test_many_that_start_at_once_make_one_home(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = [pool.submit(make_home, tmp_path / str(turn), "shop") for turn in range(20) for _ in range(8)]
    assert [future.exception() for future in made] == [None] * 160


def test_the_home_lies_beside_the_manifest_or_where_the_user_wants_it(tmp_path: Path) -> None:
    assert home_of(tmp_path, {}) == tmp_path / ".hybridwrap"
    assert home_of(tmp_path, {"HYBRIDWRAP_HOME": "/var/tmp/shop"}) == Path("/var/tmp/shop")
