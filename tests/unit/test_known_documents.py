"""What is never replaced is fetched once to a host; all else is asked for every time."""

from __future__ import annotations

from pathlib import Path

import pytest

from hybridwrap.adapters.known_documents import MOST_FILES, KnownDocuments
from hybridwrap.adapters.memory_store import MemoryStore
from tests.support.faulty_store import CountingStore


@pytest.fixture
def far() -> CountingStore:
    store = CountingStore(MemoryStore())
    store.create("runs/1.json", b"{one}")
    store.create("head/vm.json", b"head")
    return store


def near(far: CountingStore, home: Path) -> KnownDocuments:
    return KnownDocuments(far, home / "cache" / "runs", lambda key: key.startswith("runs/"))


def test_a_final_document_is_fetched_once_also_by_the_next_process(far: CountingStore, tmp_path: Path) -> None:
    assert [near(far, tmp_path).read("runs/1.json") for _ in range(3)] == [b"{one}"] * 3
    assert far.gets == 1
    (file,) = (tmp_path / "cache" / "runs").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


def test_what_may_be_replaced_is_read_every_time(far: CountingStore, tmp_path: Path) -> None:
    store = near(far, tmp_path)
    assert store.read("head/vm.json") == b"head"
    store.replace("head/vm.json", b"newer")
    assert store.read("head/vm.json") == b"newer"


def test_what_is_not_there_yet_may_come(far: CountingStore, tmp_path: Path) -> None:
    store = near(far, tmp_path)
    assert store.read("runs/2.json") is None
    store.create("runs/2.json", b"{two}")
    assert store.read("runs/2.json") == b"{two}"


@pytest.mark.parametrize("damage", [b"", b"garbage", b"0" * 64 + b"{one}"])
def test_a_file_that_is_not_whole_is_fetched_again(far: CountingStore, tmp_path: Path, damage: bytes) -> None:
    near(far, tmp_path).read("runs/1.json")
    (file,) = (tmp_path / "cache" / "runs").iterdir()
    file.write_bytes(damage)
    assert near(far, tmp_path).read("runs/1.json") == b"{one}"
    assert far.gets == 2


def test_documents_of_another_store_are_others(far: CountingStore, tmp_path: Path) -> None:
    near(far, tmp_path).read("runs/1.json")
    other = CountingStore(MemoryStore())
    other.create("runs/1.json", b"another one")
    elsewhere = KnownDocuments(Elsewhere(other), tmp_path / "cache" / "runs", lambda _: True)
    assert elsewhere.read("runs/1.json") == b"another one"


class Elsewhere(CountingStore):
    @property
    def place(self) -> str:
        return "elsewhere"


def test_only_so_many_are_kept_and_a_home_is_never_made(far: CountingStore, tmp_path: Path) -> None:
    store = near(far, tmp_path)
    for number in range(MOST_FILES + 5):
        far.create(f"runs/{number:04}.json", b"{}")
        store.read(f"runs/{number:04}.json")
    assert len(list((tmp_path / "cache" / "runs").iterdir())) == MOST_FILES
    assert near(far, tmp_path / "no-home").read("runs/1.json") == b"{one}"
    assert not (tmp_path / "no-home").exists()


def test_what_is_no_document_is_not_kept_as_it_may_come_back(far: CountingStore, tmp_path: Path) -> None:
    far.create("runs/3.json", b"{cut o")
    assert near(far, tmp_path).read("runs/3.json") == b"{cut o"
    far.replace("runs/3.json", b"{whole}")
    assert near(far, tmp_path).read("runs/3.json") == b"{whole}"
