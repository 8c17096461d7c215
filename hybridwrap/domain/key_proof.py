"""Something encrypted by whoever encrypted first in a ledger: who can't open it has another key, and may not write.

Keeps: no two keys ever write one ledger, so that nobody is kept out of what another has recorded.
"""

from __future__ import annotations

from hybridwrap.domain.append import Draft, settle
from hybridwrap.domain.keys import Keys
from hybridwrap.domain.ports import Cipher, Clock, Store
from hybridwrap.errors import LedgerUnreachable, WrongKey


def prove_key(store: Store, keys: Keys, clock: Clock, cipher: Cipher) -> None:
    """Raise WrongKey unless the ledger is encrypted with this key, or with none so far. Raise LedgerUnreachable."""
    proof = store.read(keys.key_proof)
    if proof is None:
        landing = settle(store, clock, Draft(keys.key_proof, cipher.seal(b"")))
        proof = store.read(keys.key_proof)
        if proof is None:
            told = f"{store.place}: {keys.key_proof} could not be stored: {landing.detail}"
            raise LedgerUnreachable(told, hint=landing.hint or None)
    try:
        cipher.open(proof)
    except WrongKey as error:
        raise WrongKey(f"{store.place} is encrypted with another key; nothing was run") from error
