"""What `verify` finds in logs that no client of ours would have written, or that somebody altered."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.codec import digest_of, encode_entry
from hybridwrap.domain.entry import Body, CloudObject, Entry, Late, Observe, OwnerEnd, Takeover
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.status import Outcome, Status
from tests.support.ledgers import LOCKS, Ids, begin, cancelled, destroyed, failed, ledger_on, ok, writer


def log_of(*steps: tuple[Body, str]) -> Ledger:
    """A ledger whose log was written without asking anybody; each body with its operation."""
    store = MemoryStore()
    ledger = ledger_on(store)
    prev = ""
    for seq, (body, operation) in enumerate(steps, start=1):
        entry = Entry(ledger.id, "vm", "I1", seq, operation, f"{operation}-{body!r}", prev, "now", writer(), body)
        data = encode_entry(entry, str)
        store.create(f"v1/shop/prod/log/vm/{seq:08}.json", data)
        prev = digest_of(data)
    return ledger


GONE = replace(destroyed(), evidence=())
LEFT = replace(destroyed(), objects=(CloudObject("aws_vpc.main"),))


@pytest.mark.parametrize(
    ("steps", "flaws"),
    [
        ([(begin(), "O1"), (ok(), "O1")], []),
        ([(begin(), "O1"), (begin(), "O2")], ["entry 2: `begin` while the module is held by apply O1"]),
        ([(begin(), "O1"), (ok(), "O2")], ["entry 2: `end` by operation O2, which does not hold the module"]),
        (
            [(begin(), "O1"), (Takeover("R2", "", LOCKS), "O2"), (ok(), "O1")],
            ["entry 3: `end` by operation O1, which does not hold the module"],
        ),
        ([(begin(), "O1"), (Takeover("R2", "", LOCKS), "O2"), (Late(ok()), "O1")], []),
        ([(begin(before=Status.OK), "O1")], ["entry 1: planned on status ok, the log says none"]),
        (
            [(begin(), "O1"), (cancelled(Status.ERROR), "O1")],
            ["entry 2: nothing ran, yet the status goes from none to error"],
        ),
        ([(begin("destroy"), "O1"), (GONE, "O1")], ["entry 2: destroyed without evidence"]),
        ([(Observe("R1", "", Status.DESTROYED), "")], ["entry 1: destroyed without evidence"]),
        ([(begin("destroy"), "O1"), (LEFT, "O1")], ["entry 2: destroyed, though 1 objects are listed: aws_vpc.main"]),
        (
            [(begin(), "O1"), (ok(), "O1"), (Late(ok()), "O1"), (Late(ok()), "O1")],
            ["entry 4: the result of entry 3 once more"],
        ),
    ],
)
def test_a_log_that_breaks_a_rule_is_named(steps: list[tuple[Body, str]], flaws: list[str]) -> None:
    found = log_of(*steps).verify("vm")
    assert [flaw.partition(" of ana@")[0] for flaw in found] == flaws


def test_a_gap_is_named_and_what_follows_it_too() -> None:
    ledger = log_of((begin(), "O1"), (ok(), "O1"), (begin(before=Status.OK), "O2"))
    ledger.store.delete("v1/shop/prod/log/vm/00000002.json")
    assert ledger.verify("vm")[0] == "entry 2: missing, later ones are there"


def test_a_head_that_claims_less_danger_than_the_log_is_named() -> None:
    ledger = ledger_on()
    held = ledger.begin(ledger.record("vm"), begin(), operation="O1")
    record = ledger.end(held, ok(), operation="O1", entry_id="E1")
    key = "v1/shop/prod/head/vm.json"
    safe = ledger.store.read(key) or b""
    held = ledger.begin(record, begin(before=Status.OK), operation="O2")
    ledger.store.replace(key, safe)
    assert ledger.verify("vm") == ["head: says ok as of entry 2, the log says running as of entry 3"]
    ledger_on(ledger.store, ids=Ids("02")).record("vm")
    assert ledger.verify("vm") == [], "the next writer has made it good"
    ledger.end(held, failed(), operation="O2", entry_id="E2")
    assert ledger.verify("vm") == []


def test_a_head_of_a_log_that_is_not_there_is_named() -> None:
    ledger = ledger_on()
    held = ledger.begin(ledger.record("vm"), begin(), operation="O1")
    ledger.end(held, replace(ok(), outcome=Outcome.SUCCEEDED), operation="O1", entry_id="E1")
    ledger.store.delete("v1/shop/prod/log/vm/00000002.json")
    assert ledger.verify("vm") == [
        "entry 2: missing",
        "head: made from an entry 2 that is not the one in the log",
        "head: says ok as of entry 2, the log says running as of entry 1",
    ]


@pytest.mark.parametrize(
    ("seq", "life", "digest", "flaws"),
    [
        (2, "I1", "", []),
        (2, "I1", "sha256:other", ["entry 1: rests on entry 2 of vm, which is not there as it was then"]),
        (3, "I1", "", ["entry 1: rests on entry 3 of vm, which is not there as it was then"]),
        (2, "I9", "", ["entry 1: rests on entry 2 of vm, which is of another life"]),
        (1, "I1", "", ["entry 1: rests on entry 1 of vm, which destroys nothing"]),
    ],
)
def test_what_went_with_an_owner_rests_on_that_owner_s_end(seq: int, life: str, digest: str, flaws: list[str]) -> None:
    ledger = log_of((begin("destroy"), "O1"), (destroyed(), "O1"))
    cited = ledger.store.read(f"v1/shop/prod/log/vm/{seq:08}.json") or b"nothing"
    proof = OwnerEnd("vm", life, seq, digest or digest_of(cited))
    body = Observe("R1", "gone with its owner", Status.DESTROYED, evidence=("owner vm",), owner_end=proof)
    entry = Entry(ledger.id, "disk", "I1", 1, "", "E1", "", "now", writer(), body)
    ledger.store.create("v1/shop/prod/log/disk/00000001.json", encode_entry(entry, str))
    assert ledger.verify("disk") == flaws
