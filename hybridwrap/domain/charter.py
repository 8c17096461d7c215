"""The ledger's own document: written once, by the first command that may write, after the store has proved fit."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from hybridwrap.domain.append import Draft, Fate, settle
from hybridwrap.domain.codec import decode, encode
from hybridwrap.domain.entry import Writer
from hybridwrap.domain.keys import Keys
from hybridwrap.domain.ports import Clock, Ids, Store
from hybridwrap.domain.store_probe import Probed, probe
from hybridwrap.errors import LedgerDamaged, LedgerUnreachable

RESTORE = "restore this one document from a version or a backup of it; the logs of the modules lie beside it, untouched"


class Charter(Struct, frozen=True):
    ledger: str  # its id
    stack: str
    environment: str
    time: str
    writer: Writer
    probed: Probed


def read_charter(store: Store, keys: Keys) -> Charter | None:
    """Raise LedgerUnreachable; LedgerDamaged for a document that can't be understood, or is gone from beside logs."""
    data = store.read(keys.ledger)
    if data is None and next(iter(store.list(keys.logs, limit=1)), None) is not None:
        data = store.read(keys.ledger)  # unless both have just been written
        if data is None:
            told = f"{store.place}: {keys.ledger}: missing, though there are logs of modules"
            raise LedgerDamaged(told, hint=RESTORE, key=keys.ledger)
    try:
        return decode(data, Charter, f"{store.place}: {keys.ledger}") if data is not None else None
    except LedgerDamaged as error:
        if error.hint != LedgerDamaged.hint:  # of a newer format
            raise LedgerUnreachable(error.message, hint=error.hint) from error
        error.hint = RESTORE
        raise


def found(store: Store, keys: Keys, clock: Clock, ids: Ids, writer: Writer) -> Charter:
    """Probe the store and write the charter; of two who do so at once, one wins. Raise LedgerUnreachable."""
    now = stamp(clock.now())
    probed = probe(store, keys.probe(ids.new()), now)
    charter = Charter(ids.new(), keys.stack, keys.environment, now, writer, probed)
    landing = settle(store, clock, Draft(keys.ledger, encode(charter)))
    if landing.fate is Fate.COMMITTED:
        return charter
    there = read_charter(store, keys)
    if there is None:
        raise LedgerUnreachable(
            f"{store.place}: {keys.ledger} could not be stored: {landing.detail}", hint=landing.hint or None
        )
    return there


def stamp(time: datetime) -> str:
    """RFC 3339, UTC, to the millisecond."""
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
