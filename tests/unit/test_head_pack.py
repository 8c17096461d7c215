"""A pack of heads saves reads, and never says anything that a head does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from hybridwrap.adapters.head_cache import FileHeadCache
from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.heads import MANY
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.record import Record
from hybridwrap.domain.status import Status
from tests.support.faulty_store import CountingStore, Fault, FaultyStore, Network
from tests.support.ledgers import FakeClock, Ids, begin, failed, ledger_on, ok, writer

PACK = "v1/shop/prod/heads.gz"
NAMES = [f"m{number:03}" for number in range(MANY + 1)]


@pytest.fixture
def store() -> MemoryStore:
    """A ledger of one module more than is worth a pack, by a writer that had no cache."""
    store = MemoryStore()
    ledger = ledger_on(store)
    for name in NAMES:
        held = ledger.begin(ledger.record(name), begin(), operation=f"O-{name}")
        ledger.end(held, ok(), operation=f"O-{name}", entry_id=f"E-{name}")
    return store


def on_new_host(store: CountingStore | FaultyStore, folder: Path) -> Ledger:
    return Ledger(store, "shop", "prod", writer(), FakeClock(), Ids("02"), cache=FileHeadCache(folder / "heads"))


def looked(store: MemoryStore, folder: Path) -> tuple[dict[str, Record], int]:
    """What a new host reads, and how many reads that took besides those of the ledger's own document and the pack."""
    counting = CountingStore(store)
    records = on_new_host(counting, folder).records()
    return records, counting.gets - 2


def pack(store: MemoryStore, folder: Path) -> None:
    ledger = on_new_host(CountingStore(store), folder)
    ledger.records()
    ledger.pack_heads()


def test_who_read_many_heads_leaves_them_in_one_piece_for_the_next(store: MemoryStore, tmp_path: Path) -> None:
    alone, reads = looked(store, tmp_path / "a")
    assert reads == len(NAMES)
    pack(store, tmp_path / "b")
    assert looked(store, tmp_path / "c") == (alone, 0)


def test_a_head_that_changed_since_is_read_itself(store: MemoryStore, tmp_path: Path) -> None:
    pack(store, tmp_path / "a")
    ledger = ledger_on(store)
    held = ledger.begin(ledger.record("m007"), begin(before=Status.OK), operation="O2")
    ledger.end(held, failed(), operation="O2", entry_id="E2")
    records, reads = looked(store, tmp_path / "b")
    assert records["m007"].settled is Status.ERROR
    assert reads == 1


@pytest.mark.parametrize("content", [b"", b"garbage", b"\x1f\x8b\x08\x00cut"])
def test_a_pack_that_is_garbage_costs_time_only(store: MemoryStore, tmp_path: Path, content: bytes) -> None:
    alone, reads = looked(store, tmp_path / "a")
    store.replace(PACK, content)
    assert looked(store, tmp_path / "b") == (alone, reads)


def test_a_pack_from_which_the_end_is_missing_is_not_used(store: MemoryStore, tmp_path: Path) -> None:
    alone, reads = looked(store, tmp_path / "a")
    pack(store, tmp_path / "b")
    whole = store.read(PACK) or b""
    store.replace(PACK, whole[: len(whole) // 2])
    assert looked(store, tmp_path / "c") == (alone, reads)


def test_what_was_written_counts_as_what_was_read(store: MemoryStore, tmp_path: Path) -> None:
    ledger = on_new_host(CountingStore(store), tmp_path / "a")
    ledger.open()
    for name in NAMES:
        held = ledger.begin(ledger.record(name), begin(before=Status.OK), operation=f"P-{name}")
        ledger.end(held, ok(2), operation=f"P-{name}", entry_id=f"F-{name}")
    ledger.pack_heads()
    records, reads = looked(store, tmp_path / "b")
    assert (reads, {record.seq for record in records.values()}) == (0, {4})


def test_who_had_to_read_few_writes_no_pack(store: MemoryStore, tmp_path: Path) -> None:
    looked(store, tmp_path)
    pack(store, tmp_path)
    assert tag_of_pack(store) == ""


def test_what_the_pack_has_already_is_not_packed_again(store: MemoryStore, tmp_path: Path) -> None:
    first, second = (on_new_host(CountingStore(store), tmp_path / name) for name in "ab")
    first.records()
    second.records()
    first.pack_heads()
    packed = tag_of_pack(store)
    second.pack_heads()
    assert tag_of_pack(store) == packed != ""


def tag_of_pack(store: MemoryStore) -> str:
    return next((item.tag for item in store.list(PACK)), "")


def test_a_pack_that_can_not_be_read_or_written_stops_nobody(store: MemoryStore, tmp_path: Path) -> None:
    faulty = FaultyStore(Network(store))
    ledger = on_new_host(faulty, tmp_path / "a")
    ledger.records()
    faulty.always = Fault.FORBIDDEN
    ledger.pack_heads()
    assert tag_of_pack(store) == ""
