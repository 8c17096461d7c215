"""The result of an operation on its way into the ledger: kept on the host until it is there."""

from __future__ import annotations

from msgspec import Struct

from hybridwrap.domain.entry import End


class Result(Struct, frozen=True):
    """Sending it twice is harmless: the entry id is fixed here."""

    module: str
    operation: str
    entry_id: str
    end: End
