"""The ledger of one stack in one environment.

Keeps: the record of intent is the lock. `begin` fills the very slot after the record that was planned on, or nothing
may be changed; only an `end` by the holder frees the module; a result is never lost and never recorded twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from msgspec.structs import replace

from hybridwrap.domain.append import Draft, Fate, Landing, settle
from hybridwrap.domain.beat import Beat
from hybridwrap.domain.blobs import Blobs
from hybridwrap.domain.charter import Charter, found, read_charter, stamp
from hybridwrap.domain.codec import decode, encode, encode_entry
from hybridwrap.domain.damage import Damage
from hybridwrap.domain.entry import (
    Adopt,
    Begin,
    Body,
    Cancel,
    Confirm,
    End,
    Entry,
    Late,
    Moved,
    Observe,
    Retain,
    Takeover,
    Writer,
)
from hybridwrap.domain.heads import Heads
from hybridwrap.domain.journal import Journal
from hybridwrap.domain.key_proof import prove_key
from hybridwrap.domain.keys import Keys
from hybridwrap.domain.mending import Mend, mends
from hybridwrap.domain.ports import Cipher, Clock, Copies, HeadCache, Ids, Store
from hybridwrap.domain.reading import read_many
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import Run, RunEnd, RunStart
from hybridwrap.domain.runs import Runs
from hybridwrap.domain.saved_runs import SavedRuns
from hybridwrap.domain.shared_runs import SharedRuns
from hybridwrap.domain.status import Status
from hybridwrap.domain.transitions import check
from hybridwrap.domain.verify import flaws
from hybridwrap.errors import (
    IntentInDoubt,
    LedgerDamaged,
    LedgerMisused,
    LedgerUnreachable,
    ResultNotSent,
    SlotTaken,
    Superseded,
)

FRESH = frozenset({Status.NONE, Status.DESTROYED})  # what comes next is a new incarnation


@dataclass(eq=False)
class Ledger:
    """Safe for several threads, one module to each."""

    store: Store
    stack: str
    environment: str
    writer: Writer
    clock: Clock
    ids: Ids
    cipher: Cipher | None = None
    cache: HeadCache | None = None
    _charter: Charter | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._keys = Keys(self.stack, self.environment)
        self._blobs = Blobs(self.store, self._keys, self.clock, self.cipher)
        self._heads = Heads(self.store, self._keys, self._blobs, lambda: self.id, self.cache)
        self._journal = Journal(self.store, self._keys, self._blobs, self._heads, lambda: self.id)
        self.shared_runs = SharedRuns(self.store, self._keys, self.clock, self.ids)
        self._runs = Runs(self.store, self._keys, self.clock, self.shared_runs)
        self.saved = SavedRuns(self.store, self._keys, self.clock, self.cipher)

    # The ledger as a whole

    @property
    def place(self) -> str:
        return self.store.place

    @property
    def encrypts(self) -> bool:
        """Whether blobs are encrypted: only then they may hold secrets."""
        return self.cipher is not None

    @property
    def id(self) -> str:
        if not self.exists() or self._charter is None:
            raise LedgerMisused(f"there is no ledger at {self.place} yet: a writing command opens it first")
        return self._charter.ledger

    def exists(self) -> bool:
        """Raise LedgerUnreachable, or LedgerDamaged for a document of the ledger that can't be understood."""
        self._charter = self._charter or read_charter(self.store, self._keys)
        return self._charter is not None

    def open(self) -> None:
        """Be ready to write: a writing command's first effect. Raise LedgerUnreachable, WrongKey, LedgerDamaged."""
        if not self.exists():
            self._charter = found(self.store, self._keys, self.clock, self.ids, self.writer)
        if self.cipher and self.cipher.is_one_key:
            prove_key(self.store, self._keys, self.clock, self.cipher)
        self._journal.writing = True

    @property
    def is_open(self) -> bool:
        """Whether this is a command that may write."""
        return self._journal.writing

    def record(self, module: str) -> Record:
        """Read what the log of one module says now. Raise LedgerDamaged, LedgerUnreachable."""
        return self._journal.record(module) if self.exists() else Record(module)

    def records(self, modules: Iterable[str] = ()) -> dict[str, Record]:
        """Read all modules by their heads; name the expected ones so that a lost head is made good from its log.

        One whose log can't be read is unknown, with its damage. Raise LedgerDamaged for the ledger's own document.
        """
        return self._journal.records(modules) if self.exists() else {}

    def again(self, records: Sequence[Record]) -> dict[str, Record]:
        """Read again what somebody may have begun to change since: one listing where nobody has, however many they are.

        Raise LedgerDamaged, LedgerUnreachable.
        """
        return self._journal.again(records) if self.exists() else {record.module: record for record in records}

    def pack_heads(self) -> None:
        """Leave what was read one by one together, for those who come without a cache; may not succeed."""
        self._heads.pack()

    def history(self, module: str) -> tuple[Entry, ...]:
        """Read all entries of a module, oldest first. Raise LedgerDamaged, LedgerUnreachable."""
        return self._journal.entries(module) if self.exists() else ()

    def broken_off(self, record: Record, error: LedgerDamaged) -> Record:
        """Say what is known of a module whose log can't be read on; `damage` has it from now on."""
        return self._journal.broken_off(record, error)

    @property
    def damage(self) -> tuple[Damage, ...]:
        """All that was found damaged while records and runs were read."""
        return tuple({**self._journal.damage, **self._runs.damage}.values())

    def modules(self) -> frozenset[str]:
        """Name every module that there is anything of, readable or not."""
        return self._journal.modules() if self.exists() else frozenset()

    def mends(self, module: str, copies: Copies | None) -> tuple[Mend, ...]:
        """Name every damaged object of a module, and what is proven to be its content. Raise LedgerUnreachable."""
        return mends(module, self._journal, copies) if self.exists() else ()

    def verify(self, module: str) -> list[str]:
        """Name everything in a module's log that breaks a rule; empty when it is sound."""
        return flaws(module, self._journal) if self.exists() else []

    # Operations

    def begin(self, record: Record, body: Begin, *, operation: str) -> Record:
        """Take the module, in the slot after `record`; only when this returns may the engine start.

        Raise ModuleBusy, SlotTaken, or LedgerUnreachable: not recorded, nothing was changed; its IntentInDoubt asks
        to keep the operation's folder.
        """
        check(record, body, operation)
        self._journal.prove(record)
        draft = self._draft(record, body, operation, self.ids.new())
        landing = settle(self.store, self.clock, draft)
        if landing.fate is Fate.IN_DOUBT:
            landing = self._poison(record, draft, landing)
        self._must_be_committed(record, landing)
        return self._taken(record, landing, operation)

    def takeover(self, record: Record, body: Takeover, *, operation: str) -> Record:
        """Take the module from an operation that is dead. Raise as `begin` does; a doubtful one is not cancelled."""
        check(record, body, operation)
        self._journal.prove(record)
        draft = self._draft(record, body, operation, self.ids.new())
        landing = settle(self.store, self.clock, draft)
        if landing.fate is Fate.IN_DOUBT:
            raise IntentInDoubt(f"{record.module}: it is not known whether the takeover was recorded: {landing.detail}")
        self._must_be_committed(record, landing)
        return self._taken(record, landing, operation)

    def confirm(self, record: Record, body: Confirm, *, operation: str) -> Record:
        """Say that the engine ended well and probes follow; when that can't be stored, `end` says it.

        Raise Superseded when the module was taken over: `end` then keeps the result as evidence.
        """
        entry_id = self.ids.new()
        while _holds(record, operation):
            draft = self._draft(record, body, operation, entry_id)
            landing = settle(self.store, self.clock, draft)
            if landing.fate is Fate.COMMITTED:
                return self._journal.committed(record, landing)
            if landing.fate is not Fate.TAKEN:
                return record
            record = self._journal.follow(record)
        raise Superseded(f"{record.module}: operation {operation} was taken over")

    def end(self, record: Record, body: End, *, operation: str, entry_id: str) -> Record:
        """Record a result and free the module; harmless to call again with the same entry id, from anywhere.

        Raise Superseded when another operation holds the module: the result is then kept as late evidence.
        Raise ResultNotSent when the ledger can't be told: spool the result, call again.
        """
        try:
            return self._end(record, body, operation, entry_id)
        except LedgerUnreachable as error:
            raise ResultNotSent(f"{record.module}: the result is not yet in the ledger: {error.message}") from error

    def _end(self, record: Record, body: End, operation: str, entry_id: str) -> Record:
        over = self._heads.tag(record.module)
        if not _holds(record, operation):
            record = self._journal.record(record.module)
        while _holds(record, operation):
            check(record, body, operation)
            draft = self._draft(record, body, operation, entry_id)
            landing = settle(self.store, self.clock, draft)
            if landing.fate is Fate.COMMITTED:
                return self._freed(record, landing, over)
            if landing.fate is not Fate.TAKEN:
                raise LedgerUnreachable(landing.detail)
            record = self._journal.follow(record)
        return self._end_late(record, body, operation, entry_id)

    def _end_late(self, record: Record, body: End, operation: str, entry_id: str) -> Record:
        """Record the result of an operation that no longer holds the module, unless it is in the log already."""
        over = self._heads.tag(record.module)
        while not self._journal.find(record, operation, entry_id):
            draft = self._draft(record, Late(body), operation, entry_id)
            landing = settle(self.store, self.clock, draft)
            if landing.fate is Fate.COMMITTED:
                self._freed(record, landing, over)
                raise Superseded(
                    f"{record.module}: operation {operation} was taken over; its result is kept as evidence"
                )
            if landing.fate is not Fate.TAKEN:
                raise LedgerUnreachable(landing.detail)
            record = self._journal.follow(record)
        return record

    def _poison(self, record: Record, begin: Draft, doubt: Landing) -> Landing:
        """Fill the slot of a doubtful `begin` with a `cancel`, so that the begin can never land."""
        reason = f"the begin of this slot is in doubt: {doubt.detail}"
        cancel = self._draft(record, Cancel(reason), "", self.ids.new())
        landing = settle(self.store, self.clock, cancel)
        if landing.fate is Fate.COMMITTED:
            return Landing(Fate.REFUSED, doubt.detail)
        if landing.fate is Fate.TAKEN:
            return replace(landing, fate=Fate.COMMITTED) if begin.is_in(landing.there) else landing
        raise IntentInDoubt(
            f"{record.module}: the engine did not start, but the intent may be recorded or be so later: {doubt.detail}"
        )

    def _must_be_committed(self, record: Record, landing: Landing) -> None:
        match landing.fate:
            case Fate.TAKEN:
                raise SlotTaken(
                    f"{record.module}: another entry followed entry {record.seq}, on which this was planned"
                )
            case Fate.REFUSED:
                told = f"{record.module}: not recorded, nothing was changed: {landing.detail}"
                raise LedgerUnreachable(told, hint=landing.hint or None)
            case Fate.IN_DOUBT:
                raise LedgerUnreachable(f"{record.module}: it is not known whether this was recorded: {landing.detail}")

    def _taken(self, record: Record, landing: Landing, operation: str) -> Record:
        record = self._journal.committed(record, landing)
        if not _holds(record, operation):
            raise SlotTaken(
                f"{record.module}: {operation} was recorded, and ended or taken over by somebody else since"
            )
        try:
            self._heads.claim_danger(record)
        except LedgerUnreachable as error:
            raise IntentInDoubt(
                f"{record.module}: the intent is recorded, its head is not; the engine did not start: {error.message}"
            ) from error
        return record

    def _freed(self, record: Record, landing: Landing, over: str) -> Record:
        record = self._journal.committed(record, landing)
        if not record.holder:
            self._heads.claim_safety(record, over)
        return record

    # What is known without an operation

    def observe(self, record: Record, body: Observe) -> Record:
        """Record what was seen. Raise ModuleBusy, SlotTaken: read the record again, LedgerUnreachable."""
        return self._note(record, body)

    def adopt(self, record: Record, body: Adopt) -> Record:
        """Take an existing state in, or an operator's decision. Raise as `observe` does."""
        return self._note(record, body)

    def retain(self, record: Record, body: Retain) -> Record:
        """Leave the module's objects alive for good. Raise as `observe` does."""
        return self._note(record, body)

    def moved(self, record: Record, body: Moved) -> Record:
        """Close the log of a module that was renamed. Raise as `observe` does."""
        return self._note(record, body)

    def _note(self, record: Record, body: Observe | Adopt | Retain | Moved) -> Record:
        check(record, body, "")
        self._journal.prove(record)
        over = self._heads.tag(record.module)
        draft = self._draft(record, body, "", self.ids.new())
        landing = settle(self.store, self.clock, draft)
        self._must_be_committed(record, landing)
        return self._freed(record, landing, over)

    def _draft(self, record: Record, body: Body, operation: str, entry_id: str) -> Draft:
        entry = Entry(
            ledger=self.id,
            module=record.module,
            incarnation=self._incarnation(record, body),
            seq=record.seq + 1,
            operation=operation,
            entry_id=entry_id,
            prev=record.tail,
            time=stamp(self.clock.now()),
            writer=self.writer,
            body=body,
        )
        return Draft(self._keys.entry(entry.module, entry.seq), encode_entry(entry, self._blobs.put), entry_id)

    def _incarnation(self, record: Record, body: Body) -> str:
        if isinstance(body, Adopt) and body.carried:
            return body.carried.incarnation
        begins = isinstance(body, Begin | Adopt) or (isinstance(body, Observe) and body.status not in {None, *FRESH})
        return self.ids.new() if begins and record.settled in FRESH else record.incarnation

    # Runs, signs of life, blobs

    def start_run(self, start: RunStart) -> None:
        """Raise LedgerUnreachable."""
        self._runs.start(start)

    def end_run(self, end: RunEnd) -> None:
        """Raise LedgerUnreachable."""
        self._runs.end(end)

    def runs(self, limit: int | None = None) -> tuple[Run, ...]:
        """Read the newest runs, newest first."""
        return self._runs.newest(limit) if self.exists() else ()

    def run(self, prefix: str) -> Run:
        """Read the run whose id or name is `prefix`, or whose id is the only one to begin with it. Raise UsageError."""
        return self._runs.find(prefix)

    def beat(self, beat: Beat) -> None:
        """Show that an operation lives and what it made so far. Raise LedgerUnreachable."""
        self.store.replace(self._keys.beat(beat.module, beat.operation), encode(beat))

    def beats(self, module: str) -> tuple[Beat, ...]:
        keys = [item.key for item in self.store.list(self._keys.beats(module))]
        found = zip(keys, read_many(self.store, keys), strict=True)
        return tuple(decode(data, Beat, key) for key, data in found if data is not None)

    def forget_beat(self, module: str, operation: str) -> None:
        """Remove the beat of an operation that has ended; may not succeed, and then does no harm."""
        with suppress(LedgerUnreachable):
            self.store.delete(self._keys.beat(module, operation))

    def put_blob(self, data: bytes) -> str:
        """Store bytes once, return their digest. Raise LedgerUnreachable."""
        return self._blobs.put(data)

    def get_blob(self, digest: str) -> bytes:
        """Raise LedgerDamaged when it is missing or altered, LedgerUnreachable when it can't be decrypted."""
        return self._blobs.get(digest)


def _holds(record: Record, operation: str) -> bool:
    return record.holder is not None and record.holder.operation == operation
