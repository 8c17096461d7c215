"""Reads a module's log into a record, from its head on where that can be trusted.

Keeps: every entry that is read is checked against the hash chain, and no slot is ever taken for free behind a gap.
Damage stays with its module: who reads many gets the others, and of that one what is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from hybridwrap.domain.append import Landing
from hybridwrap.domain.blobs import Blobs
from hybridwrap.domain.codec import decode_entry, digest_of
from hybridwrap.domain.damage import Damage, damage_in, named
from hybridwrap.domain.entry import Entry, Kind
from hybridwrap.domain.fold import broken_off, fold
from hybridwrap.domain.heads import Heads
from hybridwrap.domain.keys import Keys, seq_of
from hybridwrap.domain.ports import Store
from hybridwrap.domain.reading import read_many
from hybridwrap.domain.record import Record, sound
from hybridwrap.errors import LedgerDamaged


@dataclass(eq=False)
class Journal:
    store: Store
    keys: Keys
    blobs: Blobs
    heads: Heads
    ledger: Callable[[], str]  # the ledger's id
    writing: bool = False  # by a command that may write
    damage: dict[str, Damage] = field(default_factory=dict)  # that readers have met, by key
    _proven: dict[str, Record] = field(default_factory=dict)  # records whose tail this process has seen in the log

    def record(self, module: str) -> Record:
        """Fold a module's log up to its tail. Raise LedgerDamaged, LedgerUnreachable."""
        known = self._proven.get(module)
        if known:
            return self.follow(known)
        head = self.heads.read(module)
        record = self.follow(self._proven_head(head) if head else Record(module))
        if self.writing and record.seq > (head.seq if head else 0):
            self._roll_forward(record)
        return record

    def records(self, modules: Iterable[str] = ()) -> dict[str, Record]:
        """All modules that have a head, and those of `modules` that have only a log; heads at rest are believed."""
        heads = self.heads.all()
        if lost := [module for module in modules if module not in heads]:
            logs = self.store.folders(self.keys.logs)
            heads |= {module: None for module in lost if self.keys.log(module) in logs}
        return {m: head if head and not head.holder else self._known(head or Record(m)) for m, head in heads.items()}

    def again(self, records: Sequence[Record]) -> dict[str, Record]:
        """The records as they are now, by heads at rest where these are still the same. Raise as `record` does."""
        still = self.heads.still(records) if records else frozenset()
        return {r.module: r if r.module in still else self.record(r.module) for r in records}

    def modules(self) -> frozenset[str]:
        """Name every module that has a head or a log, readable or not."""
        heads = (self.keys.module_of_head(item.key) for item in self.store.list(self.keys.heads))
        logs = (self.keys.module_of_log(folder) for folder in self.store.folders(self.keys.logs))
        return frozenset((*heads, *logs))

    def broken_off(self, record: Record, error: LedgerDamaged) -> Record:
        """Keep in mind that a log can't be read on, and say what is known of its module."""
        damage = damage_in(record.module, error)
        self.damage[damage.key] = damage
        return broken_off(record, damage)

    def follow(self, record: Record) -> Record:
        """Go on from a record that is known to be in the log, to the tail."""
        return self._remember(self._followed(record))

    def committed(self, record: Record, landing: Landing) -> Record:
        """Follow a record by an entry that is known to be in the log, and by what may have come after it."""
        record = self._remember(self._folded(record, landing.there))
        return self.follow(record) if landing.read_back else record

    def prove(self, record: Record) -> None:
        """Make sure that a record, which may come from a head alone, stands for an entry of the log."""
        sound(record)
        known = self._proven.get(record.module)
        if known is None or (known.seq, known.tail) != (record.seq, record.tail):
            self._proven_head(record)
            if not record.seq:
                self.follow(record)  # its first entry may be missing, and others behind it there

    def entries(self, module: str) -> tuple[Entry, ...]:
        """All entries, oldest first."""
        return tuple(self.entry(module, seq, data) for seq, data in enumerate(self._bytes(module, 0), start=1))

    def entry(self, module: str, seq: int, data: bytes) -> Entry:
        with named(self.keys.entry(module, seq)):
            entry = decode_entry(data, f"{module} entry {seq}", self.blobs.get)
            if entry.ledger != self.ledger():
                raise LedgerDamaged(f"{module} entry {seq}: of ledger {entry.ledger}, this one is {self.ledger()}")
            return entry

    def raw(self, module: str) -> dict[int, bytes]:
        """Whatever lies in a module's log, by seq, gaps and all."""
        keys = {seq: item.key for item in self.store.list(self.keys.log(module)) if (seq := seq_of(item.key))}
        found = zip(keys, read_many(self.store, list(keys.values())), strict=True)
        return {seq: data for seq, data in found if data is not None}

    def find(self, record: Record, operation: str, entry_id: str) -> Entry | None:
        """Look for an entry by its id, from a tail back to the entry that began the operation or took over by it."""
        for seq in range(record.seq, 0, -1):
            entry = self.entry(record.module, seq, self._must_read(record.module, seq))
            if entry.entry_id == entry_id:
                return entry
            if entry.operation == operation and entry.kind in (Kind.BEGIN, Kind.TAKEOVER):
                return None
        return None

    def _remember(self, record: Record) -> Record:
        self._proven[record.module] = record
        return record

    def _followed(self, record: Record) -> Record:
        for data in self._bytes(record.module, record.seq):
            record = self._folded(record, data)
        return record

    def _known(self, record: Record) -> Record:
        """Go on from a record as far as the log can be read."""
        try:
            for data in self._bytes(record.module, record.seq):
                record = self._folded(record, data)
        except LedgerDamaged as error:
            return self.broken_off(record, error)
        return record

    def _folded(self, record: Record, data: bytes) -> Record:
        with named(self.keys.entry(record.module, record.seq + 1)):
            return fold(record, self.entry(record.module, record.seq + 1, data), digest_of(data))

    def _roll_forward(self, record: Record) -> None:
        """Finish what a writer that died between its entry and its head left undone."""
        over = self.heads.tag(record.module)
        record = self.follow(record)  # again: the tag must be older than the claim
        if record.holder:
            self.heads.claim_danger(record)
        else:
            self.heads.claim_safety(record, over)

    def _proven_head(self, head: Record) -> Record:
        if head.seq and digest_of(self._must_read(head.module, head.seq)) != head.tail:
            where = f"{head.module} entry {head.seq}"
            raise LedgerDamaged(
                f"{where}: it is not what the head was made from", key=self.keys.entry(head.module, head.seq)
            )
        return head

    def _must_read(self, module: str, seq: int) -> bytes:
        key = self.keys.entry(module, seq)
        data = self.store.read(key)
        if data is None:
            raise LedgerDamaged(f"{module} entry {seq}: missing, although something was made from it", key=key)
        return data

    def _bytes(self, module: str, after: int) -> Iterator[bytes]:
        """The entries behind a seq. Raise LedgerDamaged at one that is missing before others."""
        last = self.keys.entry(module, after) if after else ""
        keys = [item.key for item in self.store.list(self.keys.log(module), after=last) if seq_of(item.key)]
        whole = [key for seq, key in enumerate(keys, start=after + 1) if seq_of(key) == seq]
        yield from (data or b"" for data in read_many(self.store, whole))
        if len(whole) < len(keys):
            gap = after + len(whole) + 1
            key = self.keys.entry(module, gap)
            raise LedgerDamaged(f"{module} entry {gap}: missing, later ones are there", key=key)
