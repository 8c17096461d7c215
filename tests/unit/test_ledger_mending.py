"""What is put back into a damaged log is what was there: proven by its digest, or not put back at all."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.mending import Mend, put_back
from hybridwrap.errors import LedgerUnreachable
from tests.support.ledgers import FakeClock, Ids, begin, ledger_on, ok, writer

ROOT = "v1/shop/prod"
HEAD = f"{ROOT}/head/vm.json"
SEQS = range(1, 7)


def entry(seq: int) -> str:
    return f"{ROOT}/log/vm/{seq:08}.json"


class Versioned(MemoryStore):
    """Keeps all contents that a key ever had, as a bucket with versioning does."""

    place = "memory"

    def __init__(self) -> None:
        super().__init__()
        self.versions: dict[str, list[bytes]] = {}

    def _put(self, key: str, data: bytes) -> str:
        self.versions.setdefault(key, []).append(data)
        return super()._put(key, data)

    def of(self, key: str) -> Iterator[bytes]:
        yield from self.versions.get(key, ())


Harm = Callable[[Versioned], object]


def applied(*, large: bool = False) -> tuple[Ledger, Versioned]:
    """A module with six entries."""
    store = Versioned()
    ledger = ledger_on(store)
    for turn in range(3):
        record = ledger.record("vm")
        held = ledger.begin(record, begin(before=record.settled), operation=f"O{turn}")
        end = ok(address="x" * 60_000 if large else turn)
        ledger.end(held, end, operation=f"O{turn}", entry_id=f"E{turn}")
    return ledger, store


def reader_on(store: MemoryStore) -> Ledger:
    return Ledger(store, "shop", "prod", writer(), FakeClock(), Ids("09"))


def log_of(store: MemoryStore) -> dict[str, bytes | None]:
    return {item.key: store.read(item.key) for item in store.list(f"{ROOT}/log/")}


def alter(store: MemoryStore, seq: int) -> None:
    store.replace(entry(seq), (store.read(entry(seq)) or b"").replace(b'"laptop"', b'"desktop"'))


def swap(store: MemoryStore, one: int, other: int) -> None:
    first, second = store.read(entry(one)) or b"", store.read(entry(other)) or b""
    store.replace(entry(one), second)
    store.replace(entry(other), first)


def all_of(*harms: Harm) -> Harm:
    return lambda store: [harm(store) for harm in harms]


def gone(*seqs: int) -> Harm:
    return lambda store: [store.delete(entry(seq)) for seq in seqs]  # type: ignore[func-returns-value]


def without_head(harm: Harm) -> Harm:
    return all_of(harm, lambda store: store.delete(HEAD))


def every(harm: Callable[[Versioned, int], object]) -> Harm:
    return lambda store: [harm(store, seq) for seq in SEQS]


HARMS: dict[str, tuple[Harm, list[str]]] = {
    "an old entry altered": (lambda s: alter(s, 2), ["entry 2"]),
    "an old entry garbled, no head": (without_head(lambda s: s.replace(entry(3), b"{")), ["entry 3"]),
    "an old entry deleted": (lambda s: s.delete(entry(3)), ["entry 3"]),
    "two beside each other": (all_of(lambda s: alter(s, 3), gone(4)), ["entry 4", "entry 3"]),
    "two swapped": (lambda s: swap(s, 2, 3), ["entry 3", "entry 2"]),
    "the first deleted, no head": (without_head(lambda s: s.delete(entry(1))), ["entry 1"]),
    "the last altered": (lambda s: alter(s, 6), ["entry 6"]),
    "the last deleted": (lambda s: s.delete(entry(6)), ["entry 6"]),
    "the last garbled, no head": (without_head(lambda s: s.replace(entry(6), b"")), ["entry 6"]),
    "the last two deleted, no head": (
        without_head(gone(5, 6)),
        ["entry 6", "entry 5"],
    ),
    "the last but one altered, no head": (without_head(lambda s: alter(s, 5)), ["entry 5"]),
    "all garbled": (every(lambda s, seq: s.replace(entry(seq), b"?")), [f"entry {seq}" for seq in (6, 5, 4, 3, 2, 1)]),
    "all deleted, no head": (
        without_head(every(lambda s, seq: s.delete(entry(seq)))),
        [f"entry {seq}" for seq in (6, 5, 4, 3, 2, 1)],
    ),
}


@pytest.mark.parametrize(("harm", "named"), HARMS.values(), ids=HARMS)
def test_what_was_altered_or_deleted_comes_back_byte_for_byte(harm: Harm, named: list[str]) -> None:
    ledger, store = applied()
    written, record = log_of(store), ledger.record("vm")
    harm(store)
    found = reader_on(store).mends("vm", store)
    assert [mend.what for mend in found] == named
    assert all(mend.proof for mend in found)
    for mend in found:
        put_back(store, mend)
    assert log_of(store) == written
    assert reader_on(store).verify("vm") == []
    assert reader_on(store).records(["vm"])["vm"] == record


@pytest.mark.parametrize(("harm", "named"), HARMS.values(), ids=HARMS)
def test_a_repair_that_is_cut_off_never_leaves_a_sound_log_that_is_too_short(harm: Harm, named: list[str]) -> None:
    ledger, store = applied()
    record = ledger.record("vm")
    harm(store)
    sound_before = reader_on(store).records(["vm"]).get("vm")
    for mend in reader_on(store).mends("vm", store)[:-1]:
        put_back(store, mend)
        there = reader_on(store).records(["vm"])["vm"]
        assert there.damage or there in (record, sound_before), mend.what


@pytest.mark.parametrize("seed", range(60))
def test_any_harm_to_any_entries_but_a_readable_change_of_the_last_comes_back(seed: int) -> None:
    chance = random.Random(seed)
    _, store = applied()
    written = log_of(store)
    kinds: list[Callable[[int], object]] = [
        lambda seq: store.delete(entry(seq)),
        lambda seq: store.replace(entry(seq), (written[entry(seq)] or b"")[: chance.randrange(400)]),
        lambda seq: store.replace(entry(seq), written[entry(chance.choice([s for s in SEQS if s != seq]))] or b""),
        lambda seq: alter(store, seq),
    ]
    for seq in chance.sample(SEQS, chance.randint(1, 6)):
        chance.choice(kinds[:3] if seq == 6 else kinds)(seq)
    if chance.random() < 0.5:
        store.delete(HEAD)
    for mend in reader_on(store).mends("vm", store):
        put_back(store, mend)
    assert log_of(store) == written


@pytest.mark.parametrize(("harm", "named"), HARMS.values(), ids=HARMS)
def test_without_copies_nothing_is_put_back_and_all_that_can_be_seen_is_named(harm: Harm, named: list[str]) -> None:
    _, store = applied()
    harm(store)
    found = reader_on(store).mends("vm", None)
    assert [mend.data for mend in found] == [None] * len(found)
    assert {mend.what for mend in found} <= set(named)
    assert bool(found) == bool(reader_on(store).verify("vm"))


def test_a_copy_that_is_not_the_proven_one_is_left_where_it_is() -> None:
    _, store = applied()
    store.versions[entry(3)] = [b"{}", (store.read(entry(3)) or b"").replace(b"ana", b"eve")]
    store.replace(entry(3), b"{")
    (mend,) = reader_on(store).mends("vm", store)
    assert (mend.what, mend.data) == ("entry 3", None)


def test_the_other_damaged_entries_come_back_when_one_is_lost_for_good() -> None:
    _, store = applied()
    written = log_of(store)
    store.versions[entry(4)] = []
    for seq in (2, 4, 5):
        store.delete(entry(seq))
    found = {mend.what: mend for mend in reader_on(store).mends("vm", store)}
    assert found["entry 4"].data is None
    assert found["entry 5"].data == written[entry(5)]
    assert found["entry 2"].data == written[entry(2)]


def test_a_log_that_was_put_aside_and_begun_anew_is_left_alone() -> None:
    _, store = applied()
    for key in (HEAD, *map(entry, SEQS)):
        store.delete(key)
    anew = ledger_on(store, ids=Ids("07"))
    anew.begin(anew.record("vm"), begin(), operation="new")
    assert anew.mends("vm", store) == ()
    store.replace(entry(1), b"{")
    (mend,) = reader_on(store).mends("vm", store)
    assert mend.data == store.versions[entry(1)][1], "and what its head was made from comes back"


def test_blobs_come_back_by_their_names() -> None:
    ledger, store = applied(large=True)
    record = ledger.record("vm")
    blobs = [item.key for item in store.list(f"{ROOT}/blob/")]
    store.delete(blobs[0])
    store.delete(HEAD)
    assert reader_on(store).records(["vm"])["vm"].damage
    assert any(flaw.startswith("blob ") for flaw in reader_on(store).verify("vm"))
    (mend,) = reader_on(store).mends("vm", store)
    put_back(store, mend)
    assert reader_on(store).verify("vm") == []
    assert reader_on(store).records(["vm"])["vm"] == record


def test_a_slot_that_somebody_has_filled_meanwhile_is_not_overwritten() -> None:
    _, store = applied()
    store.delete(entry(6))
    (mend,) = reader_on(store).mends("vm", store)

    class Racing(Versioned):
        def replace(self, key: str, data: bytes, *, over: str | None = None) -> str | None:
            super().replace(key, b"of somebody else")
            return super().replace(key, data, over=over)

    racing = Racing()
    with pytest.raises(LedgerUnreachable, match="somebody else has just written it"):
        put_back(racing, mend)
    assert racing.read(entry(6)) == b"of somebody else"


def test_what_is_back_already_is_not_written_again() -> None:
    _, store = applied()
    mend = Mend(entry(6), "entry 6", "missing", store.read(entry(6)))
    count = len(store.versions[entry(6)])
    put_back(store, mend)
    assert len(store.versions[entry(6)]) == count
    put_back(store, replace(mend, key=entry(7)))
    assert store.read(entry(7)) == mend.data
