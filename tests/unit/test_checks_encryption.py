"""The key of a ledger is tried on what the ledger has: any key would do for something of its own."""

from __future__ import annotations

import base64

from hybridwrap.adapters.blob_cipher import BlobCipher, OwnKey
from hybridwrap.adapters.checks.encryption import check_key
from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.checkup import Verdict
from hybridwrap.domain.keys import Keys

KEYS = Keys("shop", "default")


def key(letter: str) -> BlobCipher:
    return BlobCipher(OwnKey.from_env("K", {"K": base64.b64encode(letter.encode() * 32).decode()}))


def test_a_key_that_others_do_not_have_is_a_problem() -> None:
    store = MemoryStore()
    store.create(KEYS.blob("0"), b"from before encryption was set up")
    store.create(KEYS.blob("1"), key("a").seal(b"x"))
    assert check_key(store, KEYS, key("a")).verdict is Verdict.OK
    found = check_key(store, KEYS, key("b"))
    assert (found.verdict, found.exit_code) == (Verdict.PROBLEM, 10)
    assert "another key made it" in found.text
    assert "the key that the ledger was written with" in found.fix


def test_a_saved_plan_is_proof_too_and_nothing_at_all_is_said() -> None:
    store = MemoryStore()
    assert "nothing is encrypted in the ledger yet" in check_key(store, KEYS, key("a")).text
    store.create(KEYS.saved_part("01", "01"), b"{}")
    store.create(KEYS.saved_secret("01", "0"), key("a").seal(b"x"))
    assert check_key(store, KEYS, key("b")).verdict is Verdict.PROBLEM


def test_where_the_ledger_has_a_proof_of_its_key_nothing_else_is_looked_at() -> None:
    store = MemoryStore()
    store.create(KEYS.key_proof, key("a").seal(b""))
    store.create(KEYS.blob("1"), key("c").seal(b"x"))
    assert "opens what the ledger has" in check_key(store, KEYS, key("a")).text
    assert check_key(store, KEYS, key("c")).exit_code == 10
