"""Names what in a module's log breaks the rules, as far as the log and its head alone can show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hybridwrap.domain.codec import digest_of
from hybridwrap.domain.entry import Begin, End, Entry, Kind, Observe
from hybridwrap.domain.fold import fold
from hybridwrap.domain.journal import Journal
from hybridwrap.domain.mending import mends
from hybridwrap.domain.record import Record
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.domain.transitions import fits
from hybridwrap.errors import LedgerDamaged

RESULTS = frozenset({Kind.END, Kind.LATE})
DANGER = {Status.ERROR: 1, Status.UNKNOWN: 2, Status.RUNNING: 3}  # a head must not claim less than the log


def flaws(module: str, journal: Journal) -> list[str]:
    """Sentences that name the seq, in the order of the log; empty when it is sound."""
    found = journal.raw(module)
    gaps = list(_gaps(found))
    steps = list(_steps(module, journal, found))
    in_log = [flaw for _, flaws in steps for flaw in flaws]
    tail = next((record for record, _ in reversed(steps) if record), Record(module))
    told = [*gaps, *in_log]
    return [*told, *_damaged(module, journal, told), *_in_head(found, journal.heads.read(module), tail)]


def _damaged(module: str, journal: Journal, told: Sequence[str]) -> Iterator[str]:
    """Objects that a log which can't be followed up to them does not tell of."""
    named = {flaw.partition(":")[0] for flaw in told}
    for mend in reversed(mends(module, journal, None)):
        if mend.what not in named:
            yield f"{mend.what}: {mend.flaw}"


def _gaps(found: Mapping[int, bytes]) -> Iterator[str]:
    for seq in range(1, max(found, default=0)):
        if seq not in found:
            yield f"entry {seq}: missing, later ones are there"


def _steps(module: str, journal: Journal, found: Mapping[int, bytes]) -> Iterator[tuple[Record | None, list[str]]]:
    """After each entry the record so far, None once it can't be followed, and what is wrong with the entry."""
    record = Record(module)
    results: dict[str, int] = {}
    for seq, data in sorted(found.items()):
        try:
            entry = journal.entry(module, seq, data)
            flaws = [f"entry {seq}: {flaw}" for flaw in (*_in_step(record, entry), *_in_proof(entry, journal))]
            record = fold(record, entry, digest_of(data))
        except LedgerDamaged as error:
            yield None, [error.message.removeprefix(f"{module} ")]
            return
        if entry.kind in RESULTS and results.setdefault(entry.entry_id, seq) != seq:
            flaws.append(f"entry {seq}: the result of entry {results[entry.entry_id]} once more")
        yield record, flaws


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
        case End(outcome=Outcome.CANCELLED):
            return  # of a module that was destroyed before nothing new has to be shown
        case End(status=Status.DESTROYED, evidence=()) | Observe(status=Status.DESTROYED, evidence=()):
            yield "destroyed without evidence"
        case End(status=Status.DESTROYED, objects=objects) if objects:
            yield f"destroyed, though {len(objects)} objects are listed: {objects[0].address}"


def _in_proof(entry: Entry, journal: Journal) -> Iterator[str]:
    """What is wrong with the owner's end that an owned module's end rests on."""
    proof = entry.body.owner_end if isinstance(entry.body, Observe) else None
    if proof is None:
        return
    data = journal.store.read(journal.keys.entry(proof.module, proof.seq)) or b""
    cited = f"rests on entry {proof.seq} of {proof.module}, which"
    if digest_of(data) != proof.digest:
        yield f"{cited} is not there as it was then"
        return
    owner = journal.entry(proof.module, proof.seq, data)
    if owner.incarnation != proof.incarnation:
        yield f"{cited} is of another life"
    elif not isinstance(owner.body, End | Observe) or owner.body.status is not Status.DESTROYED:
        yield f"{cited} destroys nothing"


def _in_head(found: Mapping[int, bytes], head: Record | None, tail: Record) -> Iterator[str]:
    if head is None:
        return  # a cache: without it the log is read
    if digest_of(found.get(head.seq, b"")) != head.tail:
        yield f"head: made from an entry {head.seq} that is not the one in the log"
    if DANGER.get(head.status, 0) < DANGER.get(tail.status, 0):
        yield f"head: says {head.status} as of entry {head.seq}, the log says {tail.status} as of entry {tail.seq}"
