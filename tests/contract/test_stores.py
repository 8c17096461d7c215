"""What every store must do. A store that passes may hold a ledger."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from hybridwrap.adapters.folder_store import FolderStore
from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.adapters.s3_connection import S3Settings
from hybridwrap.adapters.s3_store import S3Store
from hybridwrap.domain.ports import Creation, Store
from hybridwrap.domain.status import Status
from hybridwrap.domain.store_probe import probe
from hybridwrap.errors import LedgerUnreachable, SlotTaken
from tests.support import s3_servers
from tests.support.ledgers import Ids, begin, ledger_on, ok
from tests.support.s3_servers import Server

_buckets = count()


@pytest.fixture(params=["memory", "folder", "moto", "seaweedfs"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    match request.param:
        case "memory":
            return MemoryStore()
        case "folder":
            return FolderStore(tmp_path / "ledger")
        case server:
            return on_bucket(request.getfixturevalue(server))


def on_bucket(server: Server, **settings: str) -> S3Store:
    bucket = server.make_bucket(f"bucket-{next(_buckets)}")
    return S3Store(
        S3Settings(
            bucket, prefix="shop/", region=s3_servers.REGION, endpoint=server.endpoint, path_style=True, **settings
        )
    )


def listed(store: Store, prefix: str, *, after: str = "", limit: int | None = None) -> list[str]:
    return [item.key for item in store.list(prefix, after=after, limit=limit)]


def test_what_was_created_can_be_read_and_listed(store: Store) -> None:
    assert store.create("v1/a.json", b"one").creation is Creation.STORED
    assert store.read("v1/a.json") == b"one"
    assert listed(store, "v1/") == ["v1/a.json"]


def test_what_is_not_there_reads_as_none(store: Store) -> None:
    assert store.read("v1/a.json") is None
    assert listed(store, "v1/") == []


def test_only_the_first_create_wins(store: Store) -> None:
    store.create("v1/a.json", b"one")
    assert store.create("v1/a.json", b"two").creation is Creation.EXISTS
    assert store.create("v1/a.json", b"one").creation is Creation.EXISTS
    assert store.read("v1/a.json") == b"one"


def test_only_one_of_many_creates_at_once_wins(store: Store) -> None:
    for turn in range(5):
        with ThreadPoolExecutor(8) as pool:
            attempts = list(pool.map(lambda n, turn=turn: store.create(f"v1/{turn}", b"%d" % n), range(8)))
        (winner,) = [n for n, attempt in enumerate(attempts) if attempt.creation is Creation.STORED]
        assert {a.creation for n, a in enumerate(attempts) if n != winner} <= {Creation.EXISTS, Creation.UNSETTLED}
        assert store.read(f"v1/{turn}") == b"%d" % winner


def test_keys_of_one_folder_are_listed_in_the_order_of_their_bytes(store: Store) -> None:
    keys = ["v1/a-b.json", "v1/a.json", "v1/aB", "v1/ab", "v1/a", "v1/B", "v1/%C3%A9", "v1/10", "v1/9"]
    for key in reversed(keys):
        store.create(key, b"")
    assert listed(store, "v1/") == sorted(keys, key=str.encode)


def test_a_listing_takes_a_prefix_that_ends_within_a_name(store: Store) -> None:
    for key in ("v1/head/vm.json", "v1/head/vm-2.json", "v1/head/web.json"):
        store.create(key, b"")
    assert listed(store, "v1/head/vm") == ["v1/head/vm-2.json", "v1/head/vm.json"]


def test_a_listing_goes_on_after_a_key_and_stops_at_its_limit(store: Store) -> None:
    for seq in range(1, 8):
        store.create(f"v1/log/vm/{seq:08}.json", b"")
    assert listed(store, "v1/log/vm/", after="v1/log/vm/00000005.json") == [
        "v1/log/vm/00000006.json",
        "v1/log/vm/00000007.json",
    ]
    assert listed(store, "v1/log/vm/", limit=2) == ["v1/log/vm/00000001.json", "v1/log/vm/00000002.json"]
    assert listed(store, "v1/log/vm/", after="v1/log/vm/00000007.json") == []


@pytest.mark.parametrize("store", ["memory", "folder", "seaweedfs"], indirect=True)
def test_a_listing_holds_more_than_one_page(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: store.create(f"v1/{n:04}", b""), range(1005)))
    assert len(listed(store, "v1/")) == 1005
    assert listed(store, "v1/", limit=1002)[-1] == "v1/1001"


def test_folders_are_those_right_in_one_that_hold_keys(store: Store) -> None:
    for key in (
        "v1/log/vm/1.json",
        "v1/log/vm/2.json",
        "v1/log/%C3%A9/a/1.json",
        "v1/log/note.json",
        "v1/logs/x/1.json",
    ):
        store.create(key, b"")
    assert store.folders("v1/log/") == {"v1/log/vm/", "v1/log/%C3%A9/"}
    assert store.folders("v1/head/") == frozenset()


@pytest.mark.parametrize("store", ["memory", "folder", "seaweedfs"], indirect=True)
def test_more_folders_than_one_page_holds_are_found(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: store.create(f"v1/{n:04}/1.json", b""), range(1005)))
    assert len(store.folders("v1/")) == 1005


def test_a_replacement_is_what_is_read_and_changes_the_tag(store: Store) -> None:
    first = store.replace("v1/head", b"one")
    second = store.replace("v1/head", b"two")
    assert store.read("v1/head") == b"two"
    assert first
    assert second != first
    assert [item.tag for item in store.list("v1/head")] == [second]


def test_a_replacement_over_a_tag_needs_that_very_content(store: Store) -> None:
    old = store.replace("v1/head", b"one")
    new = store.replace("v1/head", b"two")
    assert store.replace("v1/head", b"late", over=old) is None
    assert store.replace("v1/head", b"late", over="") is None
    assert store.read("v1/head") == b"two"
    assert store.replace("v1/head", b"three", over=new) is not None
    assert store.read("v1/head") == b"three"


def test_a_replacement_over_nothing_needs_nothing_to_be_there(store: Store) -> None:
    tag = store.replace("v1/head", b"one", over="")
    assert tag
    assert store.replace("v1/other", b"late", over=tag) is None
    assert store.read("v1/other") is None


def test_a_deleted_key_is_gone_and_deleting_it_again_is_no_error(store: Store) -> None:
    store.create("v1/a.json", b"one")
    store.delete("v1/a.json")
    store.delete("v1/a.json")
    assert store.read("v1/a.json") is None
    assert listed(store, "v1/") == []


def test_large_and_empty_contents_come_back_as_they_were(store: Store) -> None:
    large = bytes(range(256)) * 20_000
    store.create("v1/large", large)
    store.create("v1/empty", b"")
    assert store.read("v1/large") == large
    assert store.read("v1/empty") == b""


def test_the_probe_finds_the_store_fit_and_leaves_nothing_behind(store: Store) -> None:
    probed = probe(store, "v1/probe/1", "2026-01-01T00:00:00.000Z")
    assert probed.race == "1 of 8"
    assert listed(store, "") == []


def test_a_ledger_on_it_takes_modules_in_and_lets_them_go(store: Store) -> None:
    ledger, other = ledger_on(store), ledger_on(store, "bob", Ids("02"))
    planned_on = other.record("live/vm 1")
    held = ledger.begin(ledger.record("live/vm 1"), begin(), operation="O1")
    with pytest.raises(SlotTaken):
        other.begin(planned_on, begin(), operation="O2")
    assert other.records()["live/vm 1"].status is Status.RUNNING
    record = ledger.end(held, ok(1, address="10.0.0.1"), operation="O1", entry_id="E1")
    assert other.records() == {"live/vm 1": record}
    assert other.end(record, ok(1, address="10.0.0.1"), operation="O1", entry_id="E1") == record
    assert ledger.verify("live/vm 1") == []


def test_a_server_that_ignores_conditional_headers_is_refused(moto: Server) -> None:
    store = on_bucket(moto)
    assert moto.app is not None
    moto.app.conditional = False
    try:
        with pytest.raises(LedgerUnreachable, match="not fit for a ledger: it stored a second time"):
            probe(store, "v1/probe/1", "2026-01-01T00:00:00.000Z")
    finally:
        moto.app.conditional = True
    assert listed(store, "") == []
