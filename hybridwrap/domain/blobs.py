"""Bytes too large for an entry, under the digest of what is stored: of the ciphertext, where blobs are encrypted."""

from __future__ import annotations

from hybridwrap.domain.append import store_once
from hybridwrap.domain.codec import digest_of
from hybridwrap.domain.keys import Keys
from hybridwrap.domain.ports import Cipher, Clock, Store
from hybridwrap.errors import LedgerDamaged, LedgerUnreachable

SEALED = b"\x00hwb1"  # how an encrypted blob begins


class Blobs:
    def __init__(self, store: Store, keys: Keys, clock: Clock, cipher: Cipher | None) -> None:
        self._store = store
        self._keys = keys
        self._clock = clock
        self._cipher = cipher
        self._stored: dict[str, str] = {}  # digest of the plain bytes -> of what was stored

    def put(self, data: bytes) -> str:
        """Store bytes, return the digest to get them by. Raise LedgerUnreachable."""
        plain = digest_of(data)
        if plain not in self._stored:
            sealed = self._cipher.seal(data) if self._cipher else data
            digest = digest_of(sealed)
            store_once(self._store, self._clock, self._keys.blob(digest), sealed)
            self._stored[plain] = digest
        return self._stored[plain]

    def get(self, digest: str) -> bytes:
        """Raise LedgerDamaged when the blob is missing or altered, LedgerUnreachable when it can't be decrypted."""
        sealed = self._store.read(self._keys.blob(digest))
        if sealed is None:
            raise LedgerDamaged(f"blob {digest} is missing")
        if digest_of(sealed) != digest:
            raise LedgerDamaged(f"blob {digest} is not what was stored")
        if not sealed.startswith(SEALED):
            return sealed  # from before encryption was set up
        if self._cipher is None:
            raise LedgerUnreachable(f"blob {digest} is encrypted", hint="set ledger.encryption in the manifest")
        return self._cipher.open(sealed)
