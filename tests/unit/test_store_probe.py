"""The probe tells a store that keeps its promise from those that only say so."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import pytest

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain import json
from hybridwrap.domain.ports import Attempt, Creation, Listed
from hybridwrap.domain.store_probe import probe
from hybridwrap.errors import LedgerUnreachable
from tests.support.faulty_store import Fault, FaultyStore
from tests.support.ledgers import begin, ledger_on


class Overwriting(MemoryStore):
    """Takes every create for the first, as S3 servers do that ignore conditional headers."""

    def create(self, key: str, data: bytes) -> Attempt:
        self.replace(key, data)
        return Attempt(Creation.STORED)


class Lying(Overwriting):
    """Says that it exists, and overwrites all the same."""

    def create(self, key: str, data: bytes) -> Attempt:
        there = self.read(key) is not None
        super().create(key, data)
        return Attempt(Creation.EXISTS if there else Creation.STORED)


class Racing(MemoryStore):
    """Checks first and sets later: right one at a time, wrong at once."""

    def create(self, key: str, data: bytes) -> Attempt:
        if key.endswith("race"):
            self.replace(key, data)
            return Attempt(Creation.STORED)
        return super().create(key, data)


class Closed(MemoryStore):
    """Takes no write, and knows what to do about it."""

    def create(self, key: str, data: bytes) -> Attempt:
        return Attempt(Creation.REFUSED, "read-only", "keep it elsewhere")


@dataclass
class Forgetful(MemoryStore):
    """Lists what was there a moment ago."""

    hidden: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def list(self, prefix: str, *, after: str = "", limit: int | None = None) -> deque[Listed]:  # type: ignore[override]
        return deque()


@pytest.mark.parametrize(
    ("store", "flaw"),
    [
        (Overwriting(), "it stored a second time what may be created only once"),
        (Lying(), "it stored a second time what may be created only once"),
        (Racing(), "8 of 8 writers at once were told that they were the first"),
        (Forgetful(), "a listing does not show what was just written"),
    ],
)
def test_a_store_that_breaks_the_promise_is_refused_with_the_flaw(store: MemoryStore, flaw: str) -> None:
    with pytest.raises(LedgerUnreachable, match=f"memory is not fit for a ledger: {flaw}") as caught:
        probe(store, "v1/probe/1", "now")
    assert "conditional writes" in caught.value.hint
    assert [item.key for item in MemoryStore.list(store, "")] == [], "nothing is left behind"


@pytest.mark.parametrize(
    ("faults", "message"),
    [
        ([Fault.FORBIDDEN], "the first write was not stored: 403: no permission"),
        ([Fault.NONE, Fault.LOST], "creating twice: timed out"),
        ([Fault.NONE, Fault.DOUBLED] + [Fault.FORBIDDEN] * 8, "writers at once had no winner: 8 refused"),
    ],
)
def test_a_store_that_cannot_be_asked_is_unreachable_and_not_called_unfit(faults: list[Fault], message: str) -> None:
    with pytest.raises(LedgerUnreachable, match=message) as caught:
        probe(FaultyStore(creates=deque(faults)), "v1/probe/1", "now")
    assert "not fit" not in caught.value.message


def test_the_first_opening_records_what_the_probe_found() -> None:
    ledger = ledger_on()
    document = json.loads(ledger.store.read("v1/shop/prod/ledger.json") or b"")
    assert document["probed"] == {
        "place": "memory",
        "time": "2026-01-01T00:00:00.000Z",
        "second_create": "exists",
        "race": "1 of 8",
        "listed_after_write": True,
    }


def test_a_store_that_is_not_fit_never_holds_a_ledger() -> None:
    store = Overwriting()
    with pytest.raises(LedgerUnreachable, match="not fit for a ledger"):
        ledger_on(store)
    assert list(store.list("")) == []


def test_what_a_store_says_to_do_about_its_refusal_is_said_on() -> None:
    with pytest.raises(LedgerUnreachable, match="read-only") as caught:
        ledger_on(Closed())
    assert caught.value.hint == "keep it elsewhere"
    ledger = ledger_on()
    ledger.store.create = Closed().create  # type: ignore[method-assign]
    with pytest.raises(LedgerUnreachable, match="nothing was changed") as caught:
        ledger.begin(ledger.record("vm"), begin(), operation="01A")
    assert caught.value.hint == "keep it elsewhere"
