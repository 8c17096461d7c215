"""Damage stays with its module: readers show the others and what is known of it, writers leave it alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.outputs import Provenance
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import RunEnd, RunStart
from hybridwrap.domain.status import Status
from hybridwrap.errors import LedgerDamaged
from hybridwrap.run.report import read_report
from tests.support.ledgers import FakeClock, Ids, begin, ledger_on, ok, writer

ROOT = "v1/shop/prod"
FIRST, SECOND, THIRD, FOURTH = (f"{ROOT}/log/vm/{seq:08}.json" for seq in (1, 2, 3, 4))

Harm = Callable[[MemoryStore], object]


def applied(*modules: str, times: int = 2) -> tuple[Ledger, MemoryStore]:
    store = MemoryStore()
    ledger = ledger_on(store)
    for module in modules:
        for turn in range(times):
            record = ledger.record(module)
            held = ledger.begin(record, begin(before=record.settled), operation=f"{module}-{turn}")
            ledger.end(held, ok(address=turn), operation=f"{module}-{turn}", entry_id=f"{module}-{turn}")
    return ledger, store


def reader_on(store: MemoryStore) -> Ledger:
    return Ledger(store, "shop", "prod", writer(), FakeClock(), Ids("09"))


def altered(store: MemoryStore, key: str) -> None:
    store.replace(key, (store.read(key) or b"").replace(b'"laptop"', b'"desktop"'))


@pytest.mark.parametrize(
    ("harm", "key", "why", "seq"),
    [
        (lambda s: s.replace(SECOND, b"{"), SECOND, "entry 2: not JSON", 1),
        (lambda s: s.replace(FIRST, b""), FIRST, "entry 1: not JSON", 0),
        (lambda s: s.delete(FIRST), FIRST, "entry 1: missing, later ones are there", 0),
        (lambda s: s.delete(THIRD), THIRD, "entry 3: missing, later ones are there", 2),
        (lambda s: altered(s, SECOND), THIRD, "entry 3: it does not follow entry 2 as that one reads now", 2),
        (lambda s: s.replace(THIRD, s.read(FIRST) or b""), THIRD, "entry 3: its content is entry 1 of vm", 2),
    ],
)
def test_a_module_without_a_head_whose_log_is_damaged_is_unknown_and_hides_no_other(
    harm: Harm, key: str, why: str, seq: int
) -> None:
    ledger, store = applied("vm", "web")
    harm(store)
    store.delete(f"{ROOT}/head/vm.json")
    reader = reader_on(store)
    records = reader.records(["vm", "web", "new"])
    assert records["web"] == ledger.record("web")
    assert "new" not in records
    damaged = records["vm"]
    assert damaged.damage
    assert (damaged.status, damaged.settled, damaged.seq) == (Status.UNKNOWN, Status.UNKNOWN, seq)
    assert damaged.damage.key == key
    assert damaged.damage.why.startswith(why)
    assert damaged.reason == f"its log is damaged: {damaged.damage}"
    assert reader.damage == (damaged.damage,)


def test_what_was_known_before_the_damage_is_kept_and_is_stale() -> None:
    _, store = applied("vm")
    store.replace(FOURTH, b"{")
    store.delete(f"{ROOT}/head/vm.json")
    record = reader_on(store).records(["vm"])["vm"]
    assert record.outputs["address"].value == 0
    assert record.outputs["address"].provenance is Provenance.STALE
    assert [o.id for o in record.objects] == ["vpc-1"]
    assert record.holder is None, "whether it is still held can't be said"


def test_an_entry_that_a_newer_hybridwrap_wrote_says_what_helps() -> None:
    _, store = applied("vm")
    store.replace(FOURTH, (store.read(FOURTH) or b"").replace(b'"kind":"end"', b'"kind":"ending"'))
    store.delete(f"{ROOT}/head/vm.json")
    damage = reader_on(store).records(["vm"])["vm"].damage
    assert damage
    assert damage.hint == "install a newer hybridwrap"


def test_nothing_is_written_on_a_damaged_record() -> None:
    _, store = applied("vm")
    store.delete(FIRST)
    store.delete(f"{ROOT}/head/vm.json")
    ledger = ledger_on(store, ids=Ids("03"))
    record = ledger.records(["vm"])["vm"]
    before = [item.key for item in store.list("")]
    with pytest.raises(LedgerDamaged, match="vm is damaged: entry 1: missing") as caught:
        ledger.begin(record, begin("destroy", before=Status.UNKNOWN), operation="O9")
    assert caught.value.key == FIRST
    assert [item.key for item in store.list("")] == before


def test_a_first_slot_that_was_emptied_is_not_filled_by_who_believes_that_there_is_no_log() -> None:
    _, store = applied("vm")
    store.delete(FIRST)
    ledger = ledger_on(store, ids=Ids("03"))
    with pytest.raises(LedgerDamaged, match="vm entry 1: missing, later ones are there"):
        ledger.begin(Record("vm"), begin(), operation="O9")
    assert store.read(FIRST) is None


def ran(ledger: Ledger, run: str, *modules: str, ended: bool = True) -> str:
    """A run and its end; return the key of its document."""
    time = f"2026-01-01T00:00:0{run[-1]}.000Z"
    before = {item.key for item in ledger.store.list(f"{ROOT}/runs/")}
    ledger.start_run(RunStart(run, "apply", time, ledger.writer, (), modules, {}))
    (key,) = {item.key for item in ledger.store.list(f"{ROOT}/runs/")} - before
    if ended:
        ledger.end_run(RunEnd(run, time, 0, {}))
    return key


def test_a_run_that_cannot_be_read_is_left_out_and_named() -> None:
    ledger, store = applied("vm")
    ran(ledger, "R1", "vm")
    key = ran(ledger, "R2", "vm")
    store.replace(key, b"[]")
    reader = reader_on(store)
    assert [run.start.run for run in reader.runs()] == ["R1"]
    assert [(damage.key, damage.why) for damage in reader.damage] == [(key, "not a JSON object")]
    with pytest.raises(LedgerDamaged, match="not a JSON object"):
        reader.run("R2")


def test_a_run_whose_end_cannot_be_read_has_none() -> None:
    ledger, store = applied("vm")
    key = ran(ledger, "R1", "vm")
    store.replace(key.replace(".json", ".end.json"), b"")
    reader = reader_on(store)
    (run,) = reader.runs()
    assert run.end is None
    assert len(reader.damage) == 1


def test_a_report_tells_of_the_others_when_one_log_cannot_be_read() -> None:
    ledger, store = applied("vm", "web")
    ran(ledger, "R1", "vm", "web")
    store.replace(THIRD, b"{")  # its head is good: only who reads the log finds it
    reader = reader_on(store)
    report = read_report(reader, None)
    assert {module.module: module.record.status for module in report.modules} == {
        "vm": Status.UNKNOWN,
        "web": Status.OK,
    }
    assert [damage.key for damage in reader.damage] == [THIRD]


def test_the_newest_run_is_not_reported_as_an_older_one_when_it_cannot_be_read() -> None:
    ledger, store = applied("vm")
    ran(ledger, "R1", "vm")
    store.replace(ran(ledger, "R2", "vm"), b"")
    with pytest.raises(LedgerDamaged, match="the ledger is damaged"):
        read_report(reader_on(store), None)
