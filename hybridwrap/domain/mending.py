"""Which objects of a module's log are damaged, and which earlier content of each is proven to be the right one.

Keeps: nothing is made up. An entry is right when the entry behind it, or the head, has its digest; the last one, where
nothing has it, when it is the oldest content of its slot that follows the entry before it. A blob's name is its digest.
The last entry is put back first: with a gap before it a log is not sound, and nobody builds on it before it is whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from hybridwrap.domain.codec import decode_bare_entry, digest_of
from hybridwrap.domain.entry import Entry
from hybridwrap.domain.journal import Journal
from hybridwrap.domain.ports import Copies, Store
from hybridwrap.errors import LedgerDamaged, LedgerUnreachable


class Mend(Struct, frozen=True):
    """One damaged object; `data` is what it was, None where nothing that is left is proven to be that."""

    key: str
    what: str  # "entry 3", "blob 5f0c…"
    flaw: str
    data: bytes | None = None
    proof: str = ""


class Bare(Struct, frozen=True):
    """An entry as it lies in its slot, and the blobs that it names."""

    data: bytes
    entry: Entry
    blobs: tuple[str, ...]


def mends(module: str, journal: Journal, copies: Copies | None) -> tuple[Mend, ...]:
    """Name every damaged object of a module in the order in which to put them back: blobs, entries from the last on.

    Raise LedgerUnreachable.
    """
    log = _Log(module, journal, copies)
    entries = tuple(log.entries())
    return (*log.blobs(), *sorted(entries, key=lambda mend: mend.key, reverse=True))


def put_back(store: Store, mend: Mend) -> None:
    """Store what an object was, over just what was seen there now. Raise LedgerUnreachable when that changed."""
    data = mend.data or b""
    tag = next((item.tag for item in store.list(mend.key, limit=1) if item.key == mend.key), "")
    if store.read(mend.key) == data or store.replace(mend.key, data, over=tag) is not None:
        return
    if store.read(mend.key) != data:
        raise LedgerUnreachable(f"{mend.key}: somebody else has just written it", hint="the same command again")


class _Log:
    def __init__(self, module: str, journal: Journal, copies: Copies | None) -> None:
        self._module = module
        self._journal = journal
        self._copies = copies
        self._there = journal.raw(module)
        self._head = journal.heads.read(module)
        self._right: dict[int, Bare] = {}  # as they are, or will be

    def entries(self) -> Iterator[Mend]:
        top = max([*self._there, self._head.seq if self._head else 0], default=0)
        behind: Bare | None = None
        for seq in range(top, 0, -1):
            yield from self._checked(seq, behind)
            behind = self._right.get(seq)
        yield from self._deleted_behind(top)

    def blobs(self) -> Iterator[Mend]:
        store, keys = self._journal.store, self._journal.keys
        for digest in dict.fromkeys(blob for _, bare in sorted(self._right.items()) for blob in bare.blobs):
            key = keys.blob(digest)
            data = store.read(key)
            if data is None or digest_of(data) != digest:
                copy = next((copy for copy in self._of(key) if digest_of(copy) == digest), None)
                flaw = "missing" if data is None else "not what its name says"
                yield Mend(key, f"blob {digest[:12]}…", flaw, copy, "its name is its digest")

    def _checked(self, seq: int, behind: Bare | None) -> Iterator[Mend]:
        """Check an entry against what is made from it; what is right of it is known then."""
        digest, proof = self._digest(seq, behind)
        if not digest:
            yield from self._first_of_its_slot(seq)
            return
        here = self._there.get(seq)
        contents = [here] if here is not None and digest_of(here) == digest else self._older(seq)
        found = next((data for data in contents if digest_of(data) == digest), None)
        bare, told = self._read(seq, found)
        if bare:
            self._right[seq] = bare
        if found is None or found is not here:
            flaw = "missing" if here is None else f"not the one that {proof} was made from"
            yield Mend(self._key(seq), f"entry {seq}", flaw, found, f"{proof} has its digest")
        elif bare is None:  # of a newer format
            yield Mend(self._key(seq), f"entry {seq}", told)

    def _digest(self, seq: int, behind: Bare | None) -> tuple[str, str]:
        if behind:
            return behind.entry.prev, f"entry {seq + 1}"
        if self._head and self._head.seq == seq:
            return self._head.tail, "the head"
        return "", ""

    def _first_of_its_slot(self, seq: int) -> Iterator[Mend]:
        """Find what is right where nothing has the digest of it: what is there, unless only an earlier content fits."""
        here, told = self._read(seq, self._there.get(seq))
        before = self._there.get(seq - 1)
        if here and self._follows(here, [before]):
            self._right[seq] = here
            return
        copies = [bare for data in self._older(seq) if (bare := self._read(seq, data)[0])]
        older = list(self._older(seq - 1)) if seq > 1 else []
        found = (
            next((copy for copy in copies if self._follows(copy, [before])), None)
            or (here if here and self._follows(here, older) else None)
            or next((copy for copy in copies if self._follows(copy, older)), None)
            or here
        )
        if found:
            self._right[seq] = found
        if found is None or found is not here:
            yield Mend(self._key(seq), f"entry {seq}", told, found.data if found else None, _oldest(seq))

    def _deleted_behind(self, top: int) -> Iterator[Mend]:
        """Entries that were there once, behind the last one: each the first content of its slot that follows."""
        while top == 0 or top in self._right:
            before = self._right[top].data if top else None
            contents = (self._read(top + 1, data)[0] for data in self._older(top + 1))
            found = next((bare for bare in contents if bare and self._follows(bare, [before])), None)
            if found is None or self._journal.store.read(self._key(top + 1)) is not None:  # just written
                return
            top += 1
            self._right[top] = found
            yield Mend(self._key(top), f"entry {top}", "missing", found.data, _oldest(top))

    def _follows(self, bare: Bare, before: Iterable[bytes | None]) -> bool:
        if bare.entry.seq == 1:
            return not bare.entry.prev
        return bare.entry.prev in {digest_of(data) for data in before if data is not None}

    def _read(self, seq: int, data: bytes | None) -> tuple[Bare | None, str]:
        """Read an entry that may be in that slot, else say what is wrong with it."""
        if data is None:
            return None, "missing"
        try:
            entry, blobs = decode_bare_entry(data, "")
        except LedgerDamaged as error:
            return None, error.message.removeprefix(": ")
        name = (entry.ledger, entry.module, entry.seq)
        if name != (self._journal.ledger(), self._module, seq):
            return None, f"its content is entry {entry.seq} of {entry.module} in ledger {entry.ledger}"
        return Bare(data, entry, blobs), "it does not follow the one before it"

    def _older(self, seq: int) -> Iterator[bytes]:
        return self._of(self._key(seq))

    def _of(self, key: str) -> Iterator[bytes]:
        return self._copies.of(key) if self._copies else iter(())

    def _key(self, seq: int) -> str:
        return self._journal.keys.entry(self._module, seq)


def _oldest(seq: int) -> str:
    return f"the oldest copy, and it follows entry {seq - 1}" if seq > 1 else "the oldest copy"
