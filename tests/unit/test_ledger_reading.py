"""Heads are a cache, the log decides; damage is named, never guessed around."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain import json
from hybridwrap.domain.entry import Observe
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.record import Record
from hybridwrap.domain.status import Status
from hybridwrap.errors import LedgerDamaged, LedgerMisused, LedgerUnreachable
from tests.support.faulty_store import CountingStore, Fault, FaultyStore
from tests.support.ledgers import FakeClock, Ids, begin, failed, ledger_on, ok, writer

ROOT = "v1/shop/prod"


def reader_on(store: MemoryStore | CountingStore | FaultyStore) -> Ledger:
    return Ledger(store, "shop", "prod", writer(), FakeClock(), Ids("09"))


def applied(*modules: str, times: int = 1) -> tuple[Ledger, MemoryStore]:
    store = MemoryStore()
    ledger = ledger_on(store)
    for module in modules:
        for turn in range(times):
            apply(ledger, module, f"{module}-{turn}")
    return ledger, store


def apply(ledger: Ledger, module: str, operation: str) -> Record:
    record = ledger.record(module)
    held = ledger.begin(record, begin(before=record.settled), operation=operation)
    return ledger.end(held, ok(address=operation), operation=operation, entry_id=f"{operation}-result")


def head(module: str) -> str:
    return f"{ROOT}/head/{module}.json"


def entry(module: str, seq: int) -> str:
    return f"{ROOT}/log/{module}/{seq:08}.json"


def test_without_a_ledger_readers_see_none_and_create_nothing() -> None:
    store = MemoryStore()
    reader = reader_on(store)
    assert not reader.exists()
    assert reader.record("vm") == Record("vm")
    assert (reader.records(["vm"]), reader.runs(), reader.history("vm"), reader.verify("vm")) == ({}, (), (), [])
    assert list(store.list("")) == []


def test_without_opening_the_ledger_nothing_is_written() -> None:
    store = MemoryStore()
    reader = reader_on(store)
    with pytest.raises(LedgerMisused, match="opens it first"):
        reader.begin(reader.record("vm"), begin(), operation="O1")
    assert list(store.list("")) == []


def test_opening_twice_or_by_two_writers_is_one_ledger() -> None:
    store = MemoryStore()
    first = ledger_on(store)
    first.open()
    assert ledger_on(store, "bob", Ids("02")).id == first.id
    assert [item.key for item in store.list("")] == [f"{ROOT}/ledger.json"]


def test_a_store_that_cannot_be_written_cannot_be_opened() -> None:
    ledger = reader_on(FaultyStore(creates=deque([Fault.FORBIDDEN])))
    with pytest.raises(LedgerUnreachable, match="no permission for s3:PutObject"):
        ledger.open()


def test_a_ledger_of_a_newer_format_is_refused() -> None:
    store = MemoryStore()
    store.create(f"{ROOT}/ledger.json", b'{"v":2,"ledger":"L"}')
    with pytest.raises(LedgerUnreachable, match="of format 2, this hybridwrap knows 1") as caught:
        reader_on(store).open()
    assert caught.value.hint == "install a newer hybridwrap"


@pytest.mark.parametrize("garbage", [b"", b"garbage", b"[]", b'{"v":1}'])
def test_a_damaged_charter_is_damage_and_says_how_to_go_on(garbage: bytes) -> None:
    store = MemoryStore()
    store.create(f"{ROOT}/ledger.json", garbage)
    with pytest.raises(LedgerDamaged, match=r"ledger\.json") as caught:
        reader_on(store).open()
    assert caught.value.hint.startswith("restore this one document")


def test_every_reader_folds_the_same_record() -> None:
    ledger, store = applied("vm", times=3)
    record = ledger.record("vm")
    assert (record.seq, record.status) == (6, Status.OK)
    assert reader_on(store).record("vm") == record
    assert reader_on(store).records() == {"vm": record}
    store.delete(head("vm"))
    assert reader_on(store).record("vm") == record


@pytest.mark.parametrize("data", [b"", b"{}", b"not json", b'{"v":1,"ledger":"L","check":"x","record":{}}'])
def test_a_damaged_head_is_rebuilt_from_the_log(data: bytes) -> None:
    ledger, store = applied("vm")
    store.replace(head("vm"), data)
    assert reader_on(store).records()["vm"] == ledger.record("vm")
    writer = ledger_on(store, ids=Ids("03"))
    assert writer.record("vm") == ledger.record("vm")
    assert store.read(head("vm")) != data, "a writer makes it good"


def test_one_flipped_bit_in_a_head_is_noticed() -> None:
    ledger, store = applied("vm")
    sound = store.read(head("vm")) or b""
    store.replace(head("vm"), sound.replace(b'"status":"ok"', b'"status":"no"').replace(b"vm-0", b"vm-9"))
    assert reader_on(store).records()["vm"] == ledger.record("vm")


def test_a_lost_head_of_an_expected_module_is_made_good_by_its_log() -> None:
    ledger, store = applied("vm", "web")
    store.delete(head("vm"))
    records = reader_on(store).records(["vm", "web", "new"])
    assert records == {"vm": ledger.record("vm"), "web": ledger.record("web")}


def test_a_head_of_another_ledger_is_not_believed() -> None:
    ledger, store = applied("vm")
    _, other = applied("vm", times=2)
    foreign = json.loads(other.read(head("vm")) or b"")
    foreign["ledger"] = "somebody else's"
    store.replace(head("vm"), json.canonical(foreign))
    assert reader_on(store).records()["vm"] == ledger.record("vm")


def test_readers_look_behind_a_head_that_says_running() -> None:
    ledger, store = applied("vm")
    before = ledger.record("vm")
    running = ledger.begin(before, begin(before=Status.OK), operation="O2")
    stale_head = store.read(head("vm")) or b""
    ended = ledger.end(running, failed(), operation="O2", entry_id="E2")
    store.replace(head("vm"), stale_head)
    assert reader_on(store).records()["vm"] == ended


@pytest.mark.parametrize(
    ("seq", "message"),
    [(1, "vm entry 1: missing, later ones are there"), (4, "vm entry 4: missing, although something was made from it")],
)
def test_a_missing_entry_is_damage_that_names_its_seq(seq: int, message: str) -> None:
    _, store = applied("vm", times=2)
    store.delete(entry("vm", seq))
    if seq == 1:
        store.delete(head("vm"))
    with pytest.raises(LedgerDamaged, match=message):
        reader_on(store).record("vm")


def test_a_gap_behind_a_head_is_not_filled_by_the_next_begin() -> None:
    ledger, store = applied("vm")
    old_head = store.read(head("vm")) or b""
    apply(ledger, "vm", "O2")
    store.replace(head("vm"), old_head)
    store.delete(entry("vm", 3))
    writer = ledger_on(store, ids=Ids("03"))
    with pytest.raises(LedgerDamaged, match="vm entry 3: missing, later ones are there"):
        writer.record("vm")
    assert store.read(entry("vm", 3)) is None


def test_an_altered_entry_is_damage_that_names_its_seq() -> None:
    _, store = applied("vm", times=2)
    altered = (store.read(entry("vm", 4)) or b"").replace(b"vm-1", b"vm-7")
    store.replace(entry("vm", 4), altered)
    with pytest.raises(LedgerDamaged, match="vm entry 4: it is not what the head was made from"):
        reader_on(store).record("vm")
    store.replace(entry("vm", 2), (store.read(entry("vm", 2)) or b"").replace(b"vm-0", b"vm-7"))
    store.delete(head("vm"))
    with pytest.raises(LedgerDamaged, match="vm entry 3: it does not follow entry 2 as that one reads now"):
        reader_on(store).record("vm")


def test_swapped_entries_are_damage() -> None:
    _, store = applied("vm", times=2)
    second, third = store.read(entry("vm", 2)) or b"", store.read(entry("vm", 3)) or b""
    store.replace(entry("vm", 2), third)
    store.replace(entry("vm", 3), second)
    store.delete(head("vm"))
    with pytest.raises(LedgerDamaged, match="vm entry 2: its content is entry 3 of vm"):
        reader_on(store).record("vm")
    assert reader_on(store).verify("vm") == [
        "entry 2: its content is entry 3 of vm",
        "entry 3: not the one that entry 4 was made from",
    ]


def test_entries_of_another_ledger_are_damage() -> None:
    _, store = applied("vm")
    other = MemoryStore()
    ledger_on(other, ids=Ids("07"))
    store.replace(f"{ROOT}/ledger.json", other.read(f"{ROOT}/ledger.json") or b"")
    with pytest.raises(LedgerDamaged, match="vm entry 1: of ledger"):
        ledger_on(store).record("vm")


def test_a_charter_that_is_gone_from_beside_its_logs_is_damage_and_no_new_ledger_is_made() -> None:
    _, store = applied("vm")
    store.delete(f"{ROOT}/ledger.json")
    for use in (lambda: reader_on(store).records(["vm"]), lambda: ledger_on(store)):
        with pytest.raises(LedgerDamaged, match="missing, though there are logs") as caught:
            use()
        assert caught.value.hint.startswith("restore this one document")
    assert store.read(f"{ROOT}/ledger.json") is None


def test_names_that_need_it_are_spelled_so_that_they_are_keys() -> None:
    names = ["live/prod vm", "über", ".hidden", "..", "a%2Fb", "a/b", "VM_1.x-y"]
    ledger, store = applied(*names)
    assert set(reader_on(store).records()) == set(names)
    assert {reader_on(store).record(name).module for name in names} == set(names)
    keys = [item.key for item in store.list(f"{ROOT}/log/")]
    assert len({key.split("/")[4] for key in keys}) == len(names)
    assert all(key.count("/") == 5 and key.isascii() for key in keys)
    assert f"{ROOT}/log/VM_1.x-y/00000001.json" in keys
    assert f"{ROOT}/log/%2E./00000001.json" in keys
    assert ledger.verify("über") == []


@dataclass
class Cache:
    heads: Mapping[str, tuple[str, bytes]] = field(default_factory=dict)
    saved: int = 0

    def load(self) -> Mapping[str, tuple[str, bytes]]:
        return self.heads

    def save(self, heads: Mapping[str, tuple[str, bytes]]) -> None:
        self.heads, self.saved = dict(heads), self.saved + 1


def test_with_a_cache_only_heads_that_changed_are_read() -> None:
    ledger, store = applied("vm", "web", "db")
    counting, cache = CountingStore(store), Cache()
    reader = Ledger(counting, "shop", "prod", writer(), FakeClock(), Ids("09"), cache=cache)
    assert reader.records() == {name: ledger.record(name) for name in ("db", "vm", "web")}
    assert (counting.gets, counting.lists) == (1 + 3, 1), "the charter and three heads, one listing"
    counting.gets = counting.lists = 0
    reader.records()
    assert (counting.gets, counting.lists, cache.saved) == (0, 1, 1)
    apply(ledger, "web", "O9")
    assert reader.records()["web"] == ledger.record("web")
    assert (counting.gets, cache.saved) == (1, 2)


def test_a_module_costs_few_requests() -> None:
    """Per applied module at most five writes and three reads, per unchanged one no write."""
    _, store = applied("vm")
    counting = CountingStore(store)
    ledger = ledger_on(counting, ids=Ids("03"))
    counting.gets = 0
    ledger.records(["vm"])
    record = ledger.record("vm")
    assert counting.puts == 0
    held = ledger.begin(record, begin(before=Status.OK), operation="O2")
    ledger.end(held, ok(2), operation="O2", entry_id="E2")
    assert counting.puts <= 5
    assert counting.gets <= 3
    assert (counting.puts, counting.gets, counting.lists) == (4, 3, 2)


def test_a_first_apply_costs_no_more() -> None:
    counting = CountingStore(MemoryStore())
    ledger = ledger_on(counting)
    counting.gets = counting.puts = counting.lists = 0
    apply(ledger, "vm", "O1")
    assert (counting.puts, counting.gets, counting.lists) == (4, 1, 1)


def test_an_observation_is_seen_by_readers_of_heads() -> None:
    ledger, store = applied("vm")
    apply(ledger, "vm", "O2")
    elsewhere = ledger_on(store, ids=Ids("03"))
    record = elsewhere.observe(elsewhere.record("vm"), Observe("R5", "gone", Status.ERROR))
    again = ledger.observe(ledger.record("vm"), Observe("R6", "back", Status.OK))
    assert record.status is Status.ERROR
    assert reader_on(store).records()["vm"] == again


def test_looking_again_at_many_modules_costs_one_listing_while_nobody_acts() -> None:
    needs = ("db", "vm", "web")
    _, store = applied(*needs)
    counting = CountingStore(store)
    ledger = ledger_on(counting, ids=Ids("03"))
    read, made = ledger.records(needs), apply(ledger, "app", "O5")
    known = (*read.values(), made, Record("new"))
    counting.puts = counting.gets = counting.lists = 0
    assert tuple(ledger.again(known).values()) == known
    assert (counting.puts, counting.gets, counting.lists) == (0, 0, 1)
    counting.lists = 0
    assert ledger.again(()) == {}
    assert counting.lists == 0


def test_whatever_another_process_has_begun_or_ended_is_seen_when_looking_again() -> None:
    other, store = applied("vm", "web")
    ledger = ledger_on(store, ids=Ids("03"))
    known = tuple(ledger.records().values())
    held = other.begin(other.record("vm"), begin(before=Status.OK), operation="O8")
    assert ledger.again(known)["vm"].holder == held.holder
    assert ledger.again(known)["web"] == known[1]
    other.end(held, ok(2), operation="O8", entry_id="E8")
    assert ledger.again(known)["vm"] == other.record("vm")
    assert ledger.again(tuple(ledger.again(known).values()))["vm"] == other.record("vm")


def test_a_record_that_is_older_than_the_head_that_was_read_is_not_taken_for_the_present() -> None:
    other, store = applied("vm")
    ledger = ledger_on(store, ids=Ids("03"))
    old = ledger.records()["vm"]
    apply(other, "vm", "O8")
    ledger.records()
    assert ledger.again([old])["vm"] == other.record("vm")
