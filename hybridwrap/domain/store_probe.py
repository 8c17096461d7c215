"""Asks a store whether it keeps the one promise that the ledger stands on: only the first create of a key wins."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from msgspec import Struct

from hybridwrap.domain.ports import Attempt, Creation, Store
from hybridwrap.errors import LedgerUnreachable

RACERS = 8


class Probed(Struct, frozen=True):
    """What a store answered; `place` is where that was."""

    place: str
    time: str
    second_create: str
    race: str
    listed_after_write: bool


def probe(store: Store, prefix: str, time: str) -> Probed:
    """Create, create again, race, list, under a prefix that nobody else uses, and clean up.

    Raise LedgerUnreachable when the store can't be written or is not fit for a ledger.
    """
    try:
        second = _create_twice(store, f"{prefix}/twice")
        race = _race(store, f"{prefix}/race")
        _must_list(store, prefix)
    finally:
        _clean_up(store, prefix)
    return Probed(store.place, time, second, race, listed_after_write=True)


def _create_twice(store: Store, key: str) -> str:
    first = store.create(key, b"first")
    if first.creation is not Creation.STORED:
        told = f"{store.place}: the first write was not stored: {first.detail or first.creation}"
        raise LedgerUnreachable(told, hint=first.hint or None)
    second = store.create(key, b"second")
    if second.creation is Creation.STORED or store.read(key) != b"first":
        raise _unfit(store, "it stored a second time what may be created only once")
    if second.creation is not Creation.EXISTS:
        raise LedgerUnreachable(f"{store.place}: creating twice: {second.detail or second.creation}")
    return second.creation


def _race(store: Store, key: str) -> str:
    def run(racer: int) -> Attempt:
        return store.create(key, f"racer {racer}".encode())

    with ThreadPoolExecutor(RACERS) as pool:
        attempts = list(pool.map(run, range(RACERS)))
    winners = [racer for racer, attempt in enumerate(attempts) if attempt.creation is Creation.STORED]
    if len(winners) > 1:
        raise _unfit(store, f"{len(winners)} of {RACERS} writers at once were told that they were the first")
    if not winners or store.read(key) != f"racer {winners[0]}".encode():
        answers = ", ".join(f"{count} {answer}" for answer, count in Counter(a.creation for a in attempts).items())
        raise LedgerUnreachable(f"{store.place}: {RACERS} writers at once had no winner: {answers}")
    return f"1 of {RACERS}"


def _must_list(store: Store, prefix: str) -> None:
    listed = [item.key for item in store.list(f"{prefix}/")]
    if listed != [f"{prefix}/race", f"{prefix}/twice"]:
        raise _unfit(store, "a listing does not show what was just written")


def _clean_up(store: Store, prefix: str) -> None:
    try:
        for name in ("race", "twice"):
            store.delete(f"{prefix}/{name}")
    except LedgerUnreachable:
        return  # a writer may well lack the permission to delete; the leftovers harm nobody


def _unfit(store: Store, flaw: str) -> LedgerUnreachable:
    return LedgerUnreachable(
        f"{store.place} is not fit for a ledger: {flaw}",
        hint="use a store with conditional writes (If-None-Match), such as Amazon S3, or a folder",
    )
