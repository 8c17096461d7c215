"""Names what in a module's log breaks the rules, as far as the log and its head alone can show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hybridwrap.domain.codec import digest_of
from hybridwrap.domain.entry import Begin, End, Entry, Kind, Observe
from hybridwrap.domain.fold import fold
from hybridwrap.domain.journal import Journal
from hybridwrap.domain.record import Record
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.domain.transitions import fits
from hybridwrap.errors import LedgerDamaged

RESULTS = frozenset({Kind.END, Kind.LATE})


def flaws(module: str, journal: Journal) -> list[str]:
    """Sentences that name the seq, in the order of the log; empty when it is sound."""
    found = journal.raw(module)
    return [*_gaps(found), *_in_log(module, journal, found), *_in_head(found, journal.heads.read(module))]


def _gaps(found: Mapping[int, bytes]) -> Iterator[str]:
    for seq in range(1, max(found, default=0)):
        if seq not in found:
            yield f"entry {seq}: missing, later ones are there"


def _in_log(module: str, journal: Journal, found: Mapping[int, bytes]) -> Iterator[str]:
    record = Record(module)
    results: dict[str, int] = {}
    for seq, data in sorted(found.items()):
        try:
            entry = journal.entry(module, seq, data)
            yield from (f"entry {seq}: {flaw}" for flaw in _in_step(record, entry))
            record = fold(record, entry, digest_of(data))
        except LedgerDamaged as error:
            yield error.message.removeprefix(f"{module} ")
            return
        if entry.kind in RESULTS:
            if entry.entry_id in results:
                yield f"entry {seq}: the result of entry {results[entry.entry_id]} once more"
            results[entry.entry_id] = seq


def _in_step(record: Record, entry: Entry) -> Iterator[str]:
    """What is wrong with an entry at its place, though it may be read."""
    if not fits(record, entry.kind, entry.operation):
        yield f"`{entry.kind}` by operation {entry.operation}, which does not hold the module"
        return
    match entry.body:
        case Begin(previous_status=before) if before is not record.settled:
            yield f"planned on status {before}, the log says {record.settled}"
        case End(outcome=Outcome.CANCELLED, status=status) if status is not record.settled:
            yield f"nothing ran, yet the status goes from {record.settled} to {status}"
        case End(status=Status.DESTROYED, evidence=()) | Observe(status=Status.DESTROYED, evidence=()):
            yield "destroyed without evidence"
        case End(status=Status.DESTROYED, objects=objects) if objects:
            yield f"destroyed, though {len(objects)} objects are listed: {objects[0].address}"


def _in_head(found: Mapping[int, bytes], head: Record | None) -> Iterator[str]:
    if head is None:
        return  # a cache: without it the log is read
    if head.seq and digest_of(found.get(head.seq, b"")) != head.tail:
        yield f"head: made from an entry {head.seq} that is not the one in the log"
    tail = max(found, default=0)
    if not head.holder and head.seq < tail:
        yield from _hidden(found, head)


def _hidden(found: Mapping[int, bytes], head: Record) -> Iterator[str]:
    yield f"head: says {head.status} as of entry {head.seq}, the log goes on to entry {max(found)}"
