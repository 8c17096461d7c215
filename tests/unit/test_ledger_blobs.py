"""Blobs: stored once, checked when read, encrypted when a key is set."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest

from hybridwrap.adapters.blob_cipher import BlobCipher, KmsKeys, OwnKey
from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.blobs import SEALED
from hybridwrap.domain.codec import INLINE_BYTES
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.ports import Cipher
from hybridwrap.errors import LedgerDamaged, LedgerUnreachable, PreflightRefused
from tests.support import s3_servers
from tests.support.faulty_store import CountingStore
from tests.support.ledgers import FakeClock, Ids, begin, ledger_on, ok, writer

KEY = base64.b64encode(bytes(range(32))).decode()


def ledger_with(cipher: Cipher | None, store: MemoryStore | CountingStore | None = None) -> Ledger:
    ledger = Ledger(store or MemoryStore(), "shop", "prod", writer(), FakeClock(), Ids(), cipher=cipher)
    ledger.open()
    return ledger


def own_key(key: str = KEY) -> BlobCipher:
    return BlobCipher(OwnKey.from_env("LEDGER_KEY", {"LEDGER_KEY": key}))


def test_a_blob_comes_back_by_its_digest_and_is_stored_once() -> None:
    store = CountingStore(MemoryStore())
    ledger = ledger_with(None, store)
    store.puts = 0
    digest = ledger.put_blob(b"sources")
    assert ledger.put_blob(b"sources") == digest
    assert (ledger.get_blob(digest), store.puts) == (b"sources", 1)
    assert ledger_on(store, ids=Ids("02")).put_blob(b"sources") == digest, "another process finds it there"


def test_a_missing_or_altered_blob_is_damage() -> None:
    ledger = ledger_with(None)
    digest = ledger.put_blob(b"sources")
    ledger.store.replace(f"v1/shop/prod/blob/{digest}", b"other sources")
    with pytest.raises(LedgerDamaged, match="is not what was stored"):
        ledger.get_blob(digest)
    with pytest.raises(LedgerDamaged, match="is missing"):
        ledger.get_blob("0" * 64)


def test_outputs_too_large_for_an_entry_lie_in_one_blob_for_entry_and_head() -> None:
    store = CountingStore(MemoryStore())
    ledger = ledger_with(None, store)
    large = "x" * INLINE_BYTES
    held = ledger.begin(ledger.record("vm"), begin(), operation="O1")
    store.puts = 0
    record = ledger.end(held, ok(1, policy=large), operation="O1", entry_id="E1")
    assert store.puts == 3
    assert ledger_on(store.store, ids=Ids("02")).records()["vm"] == record
    assert record.outputs["policy"].value == large
    keys = [item.key for item in store.list("v1/shop/prod/")]
    assert [len(store.read(key) or b"") < 4000 for key in keys if "/blob/" not in key] == [True] * (len(keys) - 1)


def test_an_encrypted_blob_shows_nothing_and_needs_its_key() -> None:
    ledger = ledger_with(own_key())
    digest = ledger.put_blob(b"hunter2")
    stored = ledger.store.read(f"v1/shop/prod/blob/{digest}") or b""
    assert stored.startswith(SEALED)
    assert b"hunter2" not in stored
    assert ledger.get_blob(digest) == b"hunter2"
    other = base64.b64encode(b"k" * 32).decode()
    for cipher, message in ((None, "is encrypted"), (own_key(other), "another key made it")):
        stranger = Ledger(ledger.store, "shop", "prod", writer(), FakeClock(), Ids("02"), cipher=cipher)
        with pytest.raises(LedgerUnreachable, match=message):
            stranger.get_blob(digest)


def test_the_name_of_an_encrypted_blob_tells_nothing_about_its_content() -> None:
    assert ledger_with(own_key()).put_blob(b"hunter2") != ledger_with(own_key()).put_blob(b"hunter2")


def test_blobs_from_before_encryption_was_set_up_stay_readable() -> None:
    plain = ledger_with(None)
    digest = plain.put_blob(b"sources")
    assert (
        Ledger(plain.store, "shop", "prod", writer(), FakeClock(), Ids(), cipher=own_key()).get_blob(digest)
        == b"sources"
    )


@pytest.mark.parametrize("value", ["short", "not base 64!", base64.b64encode(b"x" * 16).decode()])
def test_a_key_that_is_none_is_refused_with_the_way_to_make_one(value: str) -> None:
    with pytest.raises(PreflightRefused, match="LEDGER_KEY does not hold 32 bytes") as caught:
        own_key(value)
    assert "openssl rand -base64 32" in caught.value.hint


def test_where_no_key_is_set_the_one_of_this_ledger_is_asked_for_before_a_new_one_is_made() -> None:
    with pytest.raises(PreflightRefused, match="LEDGER_KEY is not set") as caught:
        own_key("")
    assert caught.value.hint.startswith("set it to the key that this ledger is written with; for a new ledger: export")


@dataclass
class FakeKms:
    """Keys in a table."""

    table: dict[bytes, bytes]
    calls: list[str] = field(default_factory=list)

    def generate_data_key(self, *, KeyId: str, KeySpec: str) -> dict[str, bytes]:  # noqa: N803
        self.calls.append(f"generate {KeyId} {KeySpec}")
        wrapped = b"wrapped %d" % len(self.table)
        self.table[wrapped] = bytes(32)
        return {"Plaintext": self.table[wrapped], "CiphertextBlob": wrapped}

    def decrypt(self, *, CiphertextBlob: bytes) -> dict[str, bytes]:  # noqa: N803
        self.calls.append("decrypt")
        return {"Plaintext": self.table[CiphertextBlob]}


def test_kms_is_asked_once_for_a_key_and_once_for_each_wrapped_one() -> None:
    here = FakeKms({})
    elsewhere = FakeKms(here.table)
    ledger = ledger_with(BlobCipher(KmsKeys("alias/hybridwrap", lambda: here)))
    digests = [ledger.put_blob(b"blob %d" % n) for n in range(3)]
    assert here.calls == ["generate alias/hybridwrap AES_256"]
    cipher = BlobCipher(KmsKeys("alias/hybridwrap", lambda: elsewhere))
    reader = Ledger(ledger.store, "shop", "prod", writer(), FakeClock(), Ids(), cipher=cipher)
    assert [reader.get_blob(digest) for digest in digests] == [b"blob 0", b"blob 1", b"blob 2"]
    assert elsewhere.calls == ["decrypt"]


def test_data_keys_of_a_real_kms_interface_open_what_they_sealed() -> None:
    with s3_servers.moto() as server:
        session: Any = boto3.Session(s3_servers.KEY_ID, s3_servers.SECRET, region_name=s3_servers.REGION)
        client = session.client("kms", endpoint_url=server.endpoint)
        key = client.create_key()["KeyMetadata"]["KeyId"]
        sealed = BlobCipher(KmsKeys(key, lambda: client)).seal(b"hunter2")
        assert BlobCipher(KmsKeys(key, lambda: client)).open(sealed) == b"hunter2"
        with pytest.raises(LedgerUnreachable, match="kms:GenerateDataKey"):
            BlobCipher(KmsKeys("alias/nobody", lambda: client)).seal(b"")
