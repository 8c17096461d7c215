"""One attempt after another to fill one slot of a log, until it is known what became of it.

Keeps: always the same bytes into the same slot; no answer but "stored" is believed before the slot is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from itertools import count
from zlib import crc32

from msgspec import Struct

from hybridwrap.domain import json
from hybridwrap.domain.ports import Clock, Creation, Store
from hybridwrap.errors import LedgerUnreachable

PATIENCE_SECONDS = 30.0
LONGEST_PAUSE_SECONDS = 4.0


class Fate(Enum):
    COMMITTED = "in the slot"
    TAKEN = "another entry is in the slot"
    REFUSED = "refused at the first try: it can never land"
    IN_DOUBT = "it may have landed or still land"


class Draft(Struct, frozen=True):
    """Something on its way into its slot; an entry is known by its id, anything else by its bytes."""

    key: str
    data: bytes
    entry_id: str = ""

    def is_in(self, there: bytes) -> bool:
        return there == self.data or (bool(self.entry_id) and entry_id_of(there) == self.entry_id)


class Landing(Struct, frozen=True):
    fate: Fate
    detail: str = ""
    hint: str = ""  # of a refusal
    there: bytes = b""  # what is in the slot, where that is known
    read_back: bool = False  # it was found there: other entries may have followed since


def settle(store: Store, clock: Clock, draft: Draft) -> Landing:
    """Try to fill the slot, for `PATIENCE_SECONDS` at most; never raises for what the store answers."""
    give_up = clock.monotonic() + PATIENCE_SECONDS
    doubtful = False
    detail = ""
    for pause in _pauses(draft.entry_id or draft.key):
        attempt = store.create(draft.key, draft.data)
        detail = attempt.detail or detail
        match attempt.creation:
            case Creation.STORED:
                return Landing(Fate.COMMITTED, there=draft.data)
            case Creation.EXISTS:
                break
            case Creation.REFUSED:
                # An earlier try may still land: a refusal now says nothing about it.
                return Landing(Fate.IN_DOUBT if doubtful else Fate.REFUSED, detail, attempt.hint)
            case Creation.IN_DOUBT:
                doubtful = True
        if clock.monotonic() + pause > give_up:
            break
        clock.sleep(pause)
    return _read_back(store, draft, detail)


def store_once(store: Store, clock: Clock, key: str, data: bytes) -> None:
    """Store a document that is never replaced; doing so twice is harmless. Raise LedgerUnreachable."""
    landing = settle(store, clock, Draft(key, data))
    if landing.fate is Fate.TAKEN:
        raise LedgerUnreachable(f"{store.place}: {key} is there already, with other content")
    if landing.fate is not Fate.COMMITTED:
        raise LedgerUnreachable(
            f"{store.place}: {key} could not be stored: {landing.detail}", hint=landing.hint or None
        )


def _read_back(store: Store, draft: Draft, detail: str) -> Landing:
    try:
        there = store.read(draft.key)
    except LedgerUnreachable as error:
        return Landing(Fate.IN_DOUBT, error.message)
    if there is None:
        return Landing(Fate.IN_DOUBT, detail)  # not there now proves nothing about later
    return Landing(Fate.COMMITTED if draft.is_in(there) else Fate.TAKEN, there=there, read_back=True)


def entry_id_of(data: bytes) -> str:
    """The id of an entry, "" for bytes that are no entry at all."""
    try:
        found = json.loads(data)
    except ValueError:
        return ""
    return str(found.get("entry_id", "")) if isinstance(found, dict) else ""


def _pauses(seed: str) -> Iterator[float]:
    """Seconds to wait, doubling, spread by the entry's id so that two writers do not stay in step."""
    for turn in count():
        spread = 0.5 + crc32(f"{seed}{turn}".encode()) / 2**32
        yield min(0.1 * 2**turn, LONGEST_PAUSE_SECONDS) * spread
