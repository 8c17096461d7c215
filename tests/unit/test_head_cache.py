"""A cache of heads is useful or empty, never wrong."""

from __future__ import annotations

from pathlib import Path

from hybridwrap.adapters.head_cache import FileHeadCache
from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.ledger import Ledger
from tests.support.faulty_store import CountingStore
from tests.support.ledgers import FakeClock, Ids, begin, ledger_on, ok, writer


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    heads = {"head/vm.json": ('"tag"', b'{"a":"\\n"}'), "head/web.json": ("7", b"{}")}
    FileHeadCache(tmp_path / "cache" / "heads").save(heads)
    assert FileHeadCache(tmp_path / "cache" / "heads").load() == heads
    assert (tmp_path / "cache" / "heads").stat().st_mode & 0o777 == 0o600


def test_a_cache_that_is_not_there_or_garbage_is_empty(tmp_path: Path) -> None:
    cache = FileHeadCache(tmp_path / "heads")
    assert cache.load() == {}
    (tmp_path / "heads").write_bytes(b"\xff\xfe garbage\n\n\t")
    assert cache.load() == {}


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    FileHeadCache(tmp_path / "file" / "heads").save({"head/vm.json": ("1", b"{}")})


def test_a_second_look_reads_no_head_and_garbage_is_read_again(tmp_path: Path) -> None:
    ledger = ledger_on(MemoryStore())
    held = ledger.begin(ledger.record("vm"), begin(), operation="O1")
    record = ledger.end(held, ok(), operation="O1", entry_id="E1")
    for content, gets in ((None, 2), (None, 1), (b"head/vm.json\t1\tgarbage", 2)):
        if content:
            (tmp_path / "heads").write_bytes(content)
        store = CountingStore(ledger.store)
        cache = FileHeadCache(tmp_path / "heads")
        reader = Ledger(store, "shop", "prod", writer(), FakeClock(), Ids(), cache=cache)
        assert reader.records() == {"vm": record}
        assert store.gets == gets, "one of them is the ledger's own document"
