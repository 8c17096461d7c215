"""Where the plans of saved runs lie in a store: encrypted, and no longer than they are needed.

Keeps: no plan is ever stored in clear: it holds secrets.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

from hybridwrap.domain.append import store_once
from hybridwrap.domain.codec import decode, digest_of, encode
from hybridwrap.domain.keys import Keys
from hybridwrap.domain.ports import Cipher, Clock, Store
from hybridwrap.domain.reading import read_many
from hybridwrap.domain.saved import KEPT_SECONDS, PLAN_AGAIN, SavedPart, SavedRun, joined, refuse_expired
from hybridwrap.domain.ulid import made_at
from hybridwrap.errors import ApprovalOutdated, LedgerDamaged, LedgerUnreachable, PreflightRefused

NEEDS_A_KEY = """in hybridwrap.yaml: ledger: {encryption: {key_from_env: HYBRIDWRAP_KEY}}
      then: export HYBRIDWRAP_KEY=$(openssl rand -base64 32)   once, and keep it   (or encryption: {kms_key_id: …})"""


class SavedRuns:
    def __init__(self, store: Store, keys: Keys, clock: Clock, cipher: Cipher | None) -> None:
        self._store = store
        self._keys = keys
        self._clock = clock
        self._cipher = cipher

    def must_seal(self) -> Cipher:
        """Raise PreflightRefused when there is no key."""
        if self._cipher is None:
            raise PreflightRefused(
                "plans can't be saved: they hold secrets, and this ledger has no key to encrypt them with",
                hint=NEEDS_A_KEY,
            )
        return self._cipher

    def put(self, run: str, secret: bytes) -> str:
        """Encrypt and store, return the digest to get it by. Raise PreflightRefused, LedgerUnreachable."""
        sealed = self.must_seal().seal(secret)
        digest = digest_of(sealed)
        store_once(self._store, self._clock, self._keys.saved_secret(run, digest), sealed)
        return digest

    def get(self, run: str, digest: str) -> bytes:
        """Raise ApprovalOutdated when it is gone or altered, LedgerUnreachable when it can't be decrypted."""
        sealed = self._store.read(self._keys.saved_secret(run, digest))
        if sealed is None or digest_of(sealed) != digest:
            state = "is not stored any more" if sealed is None else "is not what was stored"
            raise ApprovalOutdated(f"a plan of run {run} {state}", hint=PLAN_AGAIN)
        return self.must_seal().open(sealed)

    def add(self, part: SavedPart, name: str) -> None:
        """Store what one process planned. Raise LedgerUnreachable."""
        store_once(self._store, self._clock, self._keys.saved_part(part.run, name), encode(part))

    def find(self, run: str) -> SavedRun | None:
        """Read a saved run, None when nothing is stored. Raise LedgerUnreachable, LedgerDamaged, ApprovalOutdated."""
        keys = [item.key for item in self._store.list(self._keys.saved_run(run)) if item.key.endswith(".json")]
        found = zip(keys, read_many(self._store, keys), strict=True)
        try:
            parts = [decode(data, SavedPart, key) for key, data in found if data is not None]
        except LedgerDamaged as error:  # no log: what helps is to make it anew
            hint = PLAN_AGAIN if error.hint == LedgerDamaged.hint else error.hint
            raise LedgerDamaged(error.message, hint=hint) from error
        return joined(run, parts) if parts else None

    def read(self, run: str) -> SavedRun:
        """Read a saved run that may still be applied. Raise ApprovalOutdated."""
        saved = self.find(run)
        if saved is None:
            raise ApprovalOutdated(
                f"no plan of run {run} is stored: it has not ended, was killed, or its plans have expired",
                hint=PLAN_AGAIN,
            )
        refuse_expired(saved, self._clock.now())
        return saved

    def forget(self, run: str, *digests: str) -> None:
        """Remove plans that are used up; may not succeed, and then does no harm."""
        with suppress(LedgerUnreachable):
            for digest in digests:
                self._store.delete(self._keys.saved_secret(run, digest))

    def prune(self) -> None:
        """Remove what has expired; may not succeed, and then does no harm."""
        before = self._clock.now() - timedelta(seconds=KEPT_SECONDS)
        with suppress(LedgerUnreachable):
            for key in [item.key for item in self._store.list(self._keys.saved)]:
                made = made_at(self._keys.run_of_saved(key))
                if made and made < before:
                    self._store.delete(key)
