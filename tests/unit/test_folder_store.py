"""What only a folder store has: rights, refusals, leftovers, and what kind of file system it will not lie on."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hybridwrap.adapters.file_system import network_kind, read_mounts
from hybridwrap.adapters.folder_store import FolderStore, way_out
from hybridwrap.cli.stores import chosen_by
from hybridwrap.domain.ports import Creation
from hybridwrap.domain.stack import LedgerSettings
from hybridwrap.errors import LedgerUnreachable

# A process with pid 1, as in a container of its own.
ALONE = ("unshare", "--user", "--map-root-user", "--pid", "--fork")
# Creates one key, and holds still between writing the content and giving it its name until the other one has written.
CREATE_SLOWLY = """
import os, signal, sys, time
from pathlib import Path
from hybridwrap.adapters.folder_store import FolderStore
ledger, own, other = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
signal.alarm(100)  # the other one has died
fsync = os.fsync
def fsync_and_wait(descriptor):
    fsync(descriptor)
    (ledger.parent / own).touch()
    while not (ledger.parent / other).exists():
        time.sleep(0.01)
os.fsync = fsync_and_wait
FolderStore(ledger).create(f"log/{own}", own.encode())
"""
MOUNTS = "/\text4\n/home\tnfs4\n/home/ana/fast disk\txfs\n/mnt/c\t9p\n/mnt/remote\tfuse.sshfs\n/data\toverlay"


def test_folders_and_files_are_for_their_owner_only(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "ledger")
    store.create("v1/log/1.json", b"one")
    store.replace("v1/head/vm.json", b"one")
    for path in (tmp_path / "ledger").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_reading_makes_no_folder(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "ledger")
    assert (store.read("a"), list(store.list("v1/"))) == (None, [])
    assert not (tmp_path / "ledger").exists()


def test_nothing_but_the_keys_is_left_behind(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    store.create("log/1", b"one")
    store.create("log/1", b"two")
    tag = store.replace("log/2", b"one")
    store.replace("log/2", b"two", over=tag)
    store.replace("log/2", b"late", over=tag)
    assert sorted(path.name for path in (tmp_path / "log").iterdir()) == ["1", "2"]


def test_leftovers_of_killed_writers_are_not_listed(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    store.create("log/1", b"one")
    (tmp_path / "log" / ".4711-4711-0").write_bytes(b"half")
    assert [item.key for item in store.list("")] == ["log/1"]


@pytest.mark.skipif(
    not shutil.which(ALONE[0]) or subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode != 0,
    reason="no process can have a pid of another one's here",
)
def test_writers_with_the_same_pid_in_two_containers_keep_apart(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "ledger")
    store.create("log/there", b"there")
    words = [*ALONE, sys.executable, "-c", CREATE_SLOWLY, str(tmp_path / "ledger")]
    writers = [subprocess.Popen([*words, *names]) for names in (("ana", "bo"), ("bo", "ana"))]
    assert [writer.wait(120) for writer in writers] == [0, 0]
    assert (store.read("log/ana"), store.read("log/bo")) == (b"ana", b"bo")


def test_a_replacement_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "head" / "vm").mkdir(parents=True)
    with pytest.raises(LedgerUnreachable):
        FolderStore(tmp_path).replace("head/vm", b"one")
    assert [path.name for path in (tmp_path / "head").iterdir()] == ["vm"]


def test_a_folder_that_cannot_be_made_refuses_the_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = FolderStore(tmp_path / "file" / "ledger")
    attempt = store.create("a", b"one")
    assert attempt.creation is Creation.REFUSED
    assert attempt.detail == f"{tmp_path / 'file'}: File exists"
    with pytest.raises(LedgerUnreachable, match="File exists"):
        store.replace("a", b"one")


def test_a_key_that_is_a_folder_is_unreachable(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    store.create("log/1", b"one")
    with pytest.raises(LedgerUnreachable, match="log: Is a directory"):
        store.read("log")


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/srv/ledger", ""),
        ("/home/ana/ledger", "nfs4"),
        ("/home/ana/fast disk/ledger", ""),
        ("/mnt/c/ledger", "9p"),
        ("/mnt/remote", "fuse.sshfs"),
        ("/data/x", ""),
    ],
)
def test_the_innermost_mount_decides_whether_a_folder_is_on_a_network(folder: str, kind: str) -> None:
    assert network_kind(Path(folder), MOUNTS) == kind


def test_without_a_list_of_mounts_a_folder_is_taken_for_local() -> None:
    assert network_kind(Path("/srv"), "") == ""


def test_this_machine_lists_its_mounts() -> None:
    assert any(line.startswith("/\t") for line in read_mounts().splitlines())


HOME = "HYBRIDWRAP_HOME, or …"
BEGIN = f"begin the ledger elsewhere: {HOME}"


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EACCES, f"give yourself the right to write in FOLDER, or {BEGIN}"),
        (errno.EPERM, f"give yourself the right to write in FOLDER, or {BEGIN}"),
        (errno.EROFS, f"the file system of FOLDER/not/made is read-only: {BEGIN}"),
        (errno.ENOTDIR, BEGIN),
        (errno.ENOENT, BEGIN),
        (errno.ENOSPC, "make room at FOLDER, then the same command again"),
        (errno.EDQUOT, "make room at FOLDER, then the same command again"),
    ],
    ids=lambda each: errno.errorcode[each] if isinstance(each, int) else "",
)
def test_what_the_same_command_would_meet_again_has_a_way_out(number: int, said: str, tmp_path: Path) -> None:
    hint = way_out(tmp_path / "not" / "made", OSError(number, os.strerror(number)), HOME)
    assert hint == said.replace("FOLDER", str(tmp_path))


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_a_ledger_that_is_there_is_not_to_be_begun_anew_elsewhere(number: int, tmp_path: Path) -> None:
    FolderStore(tmp_path).create("v1/shop/default/ledger.json", b"{}")
    hint = way_out(tmp_path, OSError(number, os.strerror(number)), HOME)
    assert "HYBRIDWRAP_HOME" not in hint
    assert ("the right to write in" in hint) is (number == errno.EACCES)


def test_the_home_is_only_named_for_a_ledger_that_lies_in_it(tmp_path: Path) -> None:
    said = chosen_by(LedgerSettings(tmp_path, in_home=True))
    assert said.startswith("HYBRIDWRAP_HOME, or `ledger: {folder: …}`")
    assert chosen_by(LedgerSettings(tmp_path)) == "`ledger: {folder: …}` in the manifest"


def test_an_error_names_the_object_and_not_the_temporary_file(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "ledger")
    store.create("v1/a.json", b"{}")
    (tmp_path / "ledger").rename(tmp_path / "unmounted")
    attempt = store.create("v1/b.json", b"{}")
    assert attempt.detail == f"{tmp_path}/ledger/v1/b.json: No such file or directory"


def test_an_error_that_may_pass_has_none(tmp_path: Path) -> None:
    assert way_out(tmp_path, OSError(errno.EIO, "")) == ""
