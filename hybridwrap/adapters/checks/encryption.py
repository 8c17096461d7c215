"""Whether the key of a ledger is the one that its encrypted objects were written with."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from hybridwrap.domain.blobs import SEALED
from hybridwrap.domain.checkup import Finding, ok, problem
from hybridwrap.domain.keys import Keys
from hybridwrap.domain.ports import Cipher, Store
from hybridwrap.errors import LedgerUnreachable

READ = 20  # objects at most, to find some that are encrypted
OPENED = 3


def check_key(store: Store, keys: Keys, cipher: Cipher) -> Finding:
    """Encrypt something, and decrypt what is there. A key that nobody else has would hide what it encrypts from all."""
    try:
        cipher.open(cipher.seal(b"doctor"))
        proof = store.read(keys.key_proof)
        opened = [cipher.open(data) for data in ([proof] if proof else islice(_sealed(store, keys), OPENED))]
    except LedgerUnreachable as error:
        return problem("encryption", error.message, error.hint, error.exit_code)
    there = "and opens what the ledger has" if opened else "and nothing is encrypted in the ledger yet"
    return ok("encryption", f"the key encrypts and decrypts, {there}")


def _sealed(store: Store, keys: Keys) -> Iterator[bytes]:
    """What is encrypted in a ledger that has no proof of its key: of KMS, or from before there was one."""
    found = chain(store.list(keys.saved), store.list(keys.blob("")))
    names = (each.key for each in found if not each.key.endswith(".json"))
    return (data for name in islice(names, READ) if (data := store.read(name)) and data.startswith(SEALED))
