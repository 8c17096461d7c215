"""What this host knows of operations that the ledger calls running, or of results that the ledger does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from hybridwrap.domain.codec import decode
from hybridwrap.domain.entry import Locks
from hybridwrap.domain.left_behind import Claim, Liveness, Unfinished
from hybridwrap.domain.record import Record
from hybridwrap.errors import LedgerDamaged
from hybridwrap.run.context import Tools

SYNC = "next: hybridwrap sync"


def known_here(tools: Tools, records: Mapping[str, Record]) -> Mapping[str, str]:
    """By module, what to say besides the ledger; nothing is changed, and nobody is disturbed."""
    kept = kept_results(tools)
    told = {module: f"a result of {operation} lies on this host; {SYNC}" for operation, module in kept.items()}
    for name, record in records.items():
        if record.holder:
            told[name] = _of_holder(tools, record.holder.locks, has_result=record.holder.operation in kept)
    return {name: text for name, text in told.items() if text}


def _of_holder(tools: Tools, locks: Locks, *, has_result: bool) -> str:
    match tools.folders.look(locks):
        case Liveness.DEAD if has_result:
            return f"its result is safe on this host and not in the ledger yet; {SYNC}"
        case Liveness.DEAD:
            return f"{Liveness.DEAD}; {SYNC}"
        case Liveness.ENGINE:
            return str(Liveness.ENGINE)
        case _:  # at work, or on another host
            return ""


def kept_results(tools: Tools) -> Mapping[str, str]:
    """Operations of this ledger whose results are kept here, each with its module."""
    return {unfinished.operation: claim.module for unfinished, claim in claims_here(tools) if unfinished.has_result}


def claims_here(tools: Tools) -> Iterator[tuple[Unfinished, Claim]]:
    """What is unfinished in this home, of this ledger: a home serves all environments of a stack."""
    if not tools.ledger.exists():
        return
    for unfinished in tools.folders.unfinished():
        with suppress(LedgerDamaged):  # a file that somebody has edited says nothing
            claim = decode(unfinished.claim, Claim, str(unfinished.path))
            if claim.ledger == tools.ledger.id:
                yield unfinished, claim
