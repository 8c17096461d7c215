"""The files of an operation and what their locks prove."""

from __future__ import annotations

import fcntl
import os
import resource
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from hybridwrap.adapters.home import home_of, make_home
from hybridwrap.adapters.operation_folder import Folder
from hybridwrap.adapters.operation_folders import Folders
from hybridwrap.adapters.operation_locks import liveness
from hybridwrap.domain.left_behind import Liveness, Unfinished
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


def test_whoever_takes_a_dead_operation_has_it_alone(tmp_path: Path, folder: Folder) -> None:
    folders = Folders(tmp_path / "home", "shop")
    locks = folder.lock()
    folder.release()
    first, second = folders.take(locks), folders.take(locks)
    assert isinstance(first, Folder)
    assert first.lock() == locks
    assert second is Liveness.RUNNER
    first.release()
    assert isinstance(folders.take(locks), Folder)


def test_those_who_only_look_do_not_see_each_other(folder: Folder) -> None:
    locks = folder.lock()
    folder.release()
    files = [os.open(lock.path, os.O_RDWR) for lock in (locks.engine, locks.runner)]
    for file in files:
        fcntl.flock(file, fcntl.LOCK_SH)  # as another one does who looks
    assert liveness(locks) is Liveness.DEAD


def test_a_folder_is_seen_only_once_its_lock_is_held(tmp_path: Path) -> None:
    operations = tmp_path / "home/operations"
    (operations / ".01XYZ").mkdir(parents=True)  # killed while it was made
    assert Folders(tmp_path / "home", "shop").sweep() == ()
    assert Folders(tmp_path / "home", "shop").make("01ABC").path == operations / "01ABC"


def test_a_claim_makes_a_folder_unfinished_until_its_business_is_closed(tmp_path: Path, folder: Folder) -> None:
    folders = Folders(tmp_path / "home", "shop")
    assert folders.unfinished() == ()
    folder.lock()
    folder.keep_claim(b"claim")
    assert folders.unfinished() == (Unfinished(folder.path, b"claim", has_result=False),)
    folder.keep_result(b"result")
    assert folders.unfinished() == (Unfinished(folder.path, b"claim", has_result=True),)
    folder.close_business()
    assert folders.unfinished() == ()


def test_business_that_is_closed_while_somebody_looks_is_not_unfinished(tmp_path: Path, folder: Folder) -> None:
    (folder.path / "claim.json").symlink_to("gone by the time it is read")
    assert Folders(tmp_path / "home", "shop").unfinished() == ()


def test_a_folder_is_opened_by_its_name_when_nobody_is_at_work_in_it(tmp_path: Path, folder: Folder) -> None:
    folders = Folders(tmp_path / "home", "shop")
    folder.lock()
    folder.keep_claim(b"claim")
    assert folders.open(folder.path) is None
    engine = folder.hand_over()
    folder.release()
    assert folders.open(folder.path) is None, "the engine is at work"
    assert engine is not None
    os.close(engine)
    found = folders.open(folder.path)
    assert found
    assert (found.claim(), found.result()) == (b"claim", None)
    assert folders.open(folder.path) is None, "it is open"


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


@pytest.mark.parametrize("result", [b"all that happened", b""])
def test_a_log_that_cannot_be_masked_is_emptied_once_a_result_tells_the_same(folder: Folder, result: bytes) -> None:
    folder.events.write_bytes(b"hunter2\n" * 100)
    if result:
        folder.keep_result(result)
    with _full_disk():
        folder.rewrite_logs(lambda text: text.replace("hunter2", "*"))
    assert folder.events.read_bytes() == (b"" if result else b"hunter2\n" * 100)


@contextmanager
def _full_disk() -> Iterator[None]:
    """Let no file grow."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_leftovers_of_the_dead_go_and_those_of_the_living_or_unfinished_stay(tmp_path: Path) -> None:
    folders = Folders(tmp_path / "home", "shop")
    living, unfinished, ended, clean, planned = (folders.make(name) for name in ("1", "2", "3", "4", "5"))
    for folder in (living, unfinished, ended, planned):
        for name in ("plan", "vars.tfvars.json", "plan.jsonl"):
            (folder.path / name).write_text("secret")
    for folder in (living, unfinished, ended, clean):
        folder.lock()
        folder.events.write_text("{}")
    unfinished.keep_claim(b"claim")
    for folder in (unfinished, ended, clean, planned):
        folder.release()

    assert folders.sweep() == ("3", "5")

    assert {file.name for file in ended.path.iterdir()} == {"runner.lock", "events.jsonl", "plan.jsonl"}
    assert not planned.path.exists()
    assert all((folder.path / "plan").exists() for folder in (living, unfinished))


def test_many_that_sweep_at_once_are_not_in_each_others_way(tmp_path: Path) -> None:
    folders = Folders(tmp_path / "home", "shop")
    for number in range(200):
        folders.make(f"{number:03}").release()
    with ThreadPoolExecutor(8) as pool:
        swept = [name for names in pool.map(lambda _: folders.sweep(), range(8)) for name in names]
    assert set(swept) == {f"{number:03}" for number in range(200)}
    assert not list((tmp_path / "home/operations").iterdir())


def test_there_are_no_leftovers_before_the_first_operation(tmp_path: Path) -> None:
    folders = Folders(tmp_path / "home", "shop")
    assert (folders.sweep(), folders.unfinished()) == ((), ())
    assert not (tmp_path / "home").exists()


def test_a_folder_that_cannot_be_made_is_refused_and_named(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/operations").write_text("in the way")
    with pytest.raises(PreflightRefused, match=r"home/operations/01ABC can't be made"):
        Folders(tmp_path / "home", "shop").make("01ABC")


def test_two_operations_never_share_a_folder(tmp_path: Path, folder: Folder) -> None:
    with pytest.raises(PreflightRefused, match="Directory not empty"):
        Folders(tmp_path / "home", "shop").make(folder.operation)


def test_a_removed_folder_is_gone_with_its_locks(folder: Folder) -> None:
    locks = folder.lock()
    folder.remove()
    assert not folder.path.exists()
    assert liveness(locks) is Liveness.NOT_VISIBLE
    folder.remove()  # also when somebody else was faster


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


def test_an_empty_home_is_none_and_a_tilde_is_the_users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home_of(tmp_path, {"HYBRIDWRAP_HOME": ""}) == tmp_path / ".hybridwrap"
    assert home_of(tmp_path, {"HYBRIDWRAP_HOME": "~/h"}) == tmp_path / "h"


@pytest.mark.parametrize(
    ("chosen", "said", "hint"),
    [
        ("/dev/null", "is /dev/null, which is no folder", "or unset it: then all lies in .hybridwrap"),
        ("/dev/null/h", "is /dev/null/h, which can't be made: /dev/null is no folder", "or unset it"),
        ("h", "is h, which is another folder wherever hybridwrap is called", "export HYBRIDWRAP_HOME=/"),
        ("~nobody-of-this-name/h", "is another folder wherever", "export HYBRIDWRAP_HOME='/"),
    ],
)
def test_a_home_that_is_none_is_refused_before_anything(tmp_path: Path, chosen: str, said: str, hint: str) -> None:
    with pytest.raises(PreflightRefused, match=said) as refused:
        home_of(tmp_path, {"HYBRIDWRAP_HOME": chosen})
    assert refused.value.message.startswith("HYBRIDWRAP_HOME is ")
    assert hint in refused.value.hint


def test_a_disk_without_room_refuses_what_comes_before_a_mutation_and_forgives_the_result(folder: Folder) -> None:
    for name in ("events.jsonl", "claim.json.new", "result.json.new"):
        (folder.path / name).mkdir()  # stands for any refusal of the file system
    with pytest.raises(PreflightRefused, match="can't be made: Is a directory"):
        folder.lock()
    with pytest.raises(PreflightRefused, match="can't be made: Is a directory"):
        folder.keep_claim(b"claim")
    folder.keep_result(b"result")
    assert folder.result() is None
