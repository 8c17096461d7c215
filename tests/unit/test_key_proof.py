"""One ledger, one key: whoever has another one is told before writing anything."""

from __future__ import annotations

from collections import deque

import pytest

from hybridwrap.adapters.blob_cipher import BlobCipher, KmsKeys, OwnKey
from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.ports import Store
from hybridwrap.errors import LedgerUnreachable, WrongKey
from tests.support.faulty_store import CountingStore, Fault, FaultyStore, Network
from tests.support.ledgers import FakeClock, Ids, ledger_on, writer

PROOF = "v1/shop/prod/key.sealed"


def on(store: Store, letter: str) -> Ledger:
    cipher = BlobCipher(OwnKey(letter.encode() * 32))
    return Ledger(store, "shop", "prod", writer(), FakeClock(), Ids(), cipher)


def test_the_first_key_is_the_ledgers_and_no_other_may_write() -> None:
    store = MemoryStore()
    on(store, "a").open()
    first = store.read(PROOF)
    other = on(store, "b")
    with pytest.raises(WrongKey, match="memory is encrypted with another key; nothing was run"):
        other.open()
    assert not other.is_open
    on(store, "a").open()
    assert store.read(PROOF) == first


def test_of_two_first_keys_at_once_one_wins() -> None:
    store = MemoryStore()
    ledger_on(store)
    late = FaultyStore(Network(store))
    late.before_create.append(on(store, "a").open)
    with pytest.raises(WrongKey):
        on(late, "b").open()
    on(store, "a").open()


def test_a_proof_that_can_not_be_stored_keeps_from_writing() -> None:
    store = MemoryStore()
    ledger_on(store)
    with pytest.raises(LedgerUnreachable, match=f"{PROOF} could not be stored: 403"):
        on(FaultyStore(Network(store), creates=deque([Fault.FORBIDDEN])), "a").open()


def test_who_only_reads_asks_for_no_proof_and_data_keys_of_kms_need_none() -> None:
    store = CountingStore(MemoryStore())
    ledger_on(store)
    on(store, "a").records()

    def connect() -> None:
        raise AssertionError("KMS was asked")

    Ledger(store, "shop", "prod", writer(), FakeClock(), Ids(), BlobCipher(KmsKeys("alias/x", connect))).open()  # type: ignore[arg-type]
    assert store.read(PROOF) is None
