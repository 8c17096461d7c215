"""Results that the ledger does not have yet, packed up to leave this host: for a machine that is about to go.

Keeps: what is packed is what the ledger would have got, no more: no log, no plan, no state, no secret value; and it
is encrypted wherever the ledger's blobs are. Sending it, from anywhere and as often as one likes, does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from msgspec import Struct

from hybridwrap.domain.blobs import SEALED
from hybridwrap.domain.codec import decode, encode
from hybridwrap.domain.entry import Begin, Takeover
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.left_behind import Claim
from hybridwrap.domain.ports import Cipher
from hybridwrap.domain.result import Result
from hybridwrap.errors import HybridwrapError, LedgerDamaged, Superseded, UsageError
from hybridwrap.run.context import Context, Tools


class Packed(Struct, frozen=True):
    ledger: str  # its id
    result: Result


class Spool(Struct, frozen=True):
    results: tuple[Packed, ...]


def packed(tools: Tools) -> tuple[Spool, bytes]:
    """Pack the results that are kept here; nothing of the ledger is needed. Raise LedgerUnreachable for no key."""
    spool = Spool(tuple(_kept(tools)))
    data = encode(spool)
    cipher = tools.ledger.cipher
    return spool, cipher.seal(data) if cipher else data


def _kept(tools: Tools) -> Iterator[Packed]:
    for unfinished in tools.folders.unfinished():
        folder = tools.folders.open(unfinished.path) if unfinished.has_result else None
        if folder is None:
            continue  # somebody is at work in it
        try:
            found, where = folder.result(), str(unfinished.path)
            with suppress(LedgerDamaged):  # a file that somebody has edited says nothing
                if found is not None:
                    ledger = decode(unfinished.claim, Claim, where).ledger
                    yield Packed(ledger, decode(found, Result, where))
        finally:
            folder.release()


def unpacked(data: bytes, cipher: Cipher | None, where: str) -> Spool:
    """Raise UsageError for what is no such file, LedgerUnreachable when it can't be decrypted."""
    if data.startswith(SEALED):
        if cipher is None:
            raise UsageError(
                f"{where} is encrypted", hint="set ledger.encryption in the manifest, as where it was made"
            )
        data = cipher.open(data)
    try:
        return decode(data, Spool, where)
    except LedgerDamaged as error:
        raise UsageError(f"{where} is no file of `sync --export`: {error.message}") from error


def send(context: Context, spool: Spool) -> Mapping[str, str]:
    """Tell the ledger what was packed elsewhere; return by module what could not be told, and why."""
    ledger = context.tools.ledger
    left: dict[str, str] = {}
    for packed_up in spool.results:
        result = packed_up.result
        if packed_up.ledger != ledger.id:
            left[result.module] = f"it is of ledger {packed_up.ledger}, this one is {ledger.id}"
            continue
        try:
            if not _began(ledger, result):
                left[result.module] = f"this ledger knows no operation {result.operation} of it: nothing was written"
                continue
            record = ledger.record(result.module)
            ledger.end(record, result.end, operation=result.operation, entry_id=result.entry_id)
            context.watch.note(f"{result.module}: the result of {result.operation} is in the ledger")
        except Superseded as error:
            context.watch.note(error.message)  # it is there, as evidence
        except HybridwrapError as error:
            left[result.module] = error.message
    return left


def _began(ledger: Ledger, result: Result) -> bool:
    """Whether an operation has an intent: what has none is no result of it, whatever a file says."""
    log = ledger.history(result.module)
    return any(e.operation == result.operation and isinstance(e.body, Begin | Takeover) for e in log)
