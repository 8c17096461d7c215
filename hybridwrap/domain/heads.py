"""Heads: the folded log of each module under one prefix, so that one listing shows a stack.

Keeps: a head claims danger before there is any, whatever stands there; it claims safety only over the very head that
stood there before the entry that made it safe, so that no late write can hide an operation that has begun since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from hybridwrap.domain.blobs import Blobs
from hybridwrap.domain.codec import decode_head, encode_head
from hybridwrap.domain.head_pack import HeadPack
from hybridwrap.domain.keys import Keys
from hybridwrap.domain.ports import HeadCache, Listed, Store
from hybridwrap.domain.reading import read_many
from hybridwrap.domain.record import Record
from hybridwrap.errors import LedgerUnreachable

MANY = 100  # heads that are worth a pack


@dataclass(eq=False)
class Heads:
    store: Store
    keys: Keys
    blobs: Blobs
    ledger: Callable[[], str]  # the ledger's id
    cache: HeadCache | None = None  # given where the store is far away
    _new: dict[str, tuple[str, bytes]] = field(default_factory=dict)  # by key: tag and content, read or written alone
    _dangerous: dict[str, str] = field(default_factory=dict)  # tags of heads by which this process holds a module
    _at_rest: dict[str, tuple[str, int]] = field(default_factory=dict)  # by key: tag and seq of heads that claim safety

    def read(self, module: str) -> Record | None:
        """Read one head, None when there is none that can be used."""
        data = self.store.read(self.keys.head(module))
        return self._decoded(module, data)

    def all(self) -> dict[str, Record | None]:
        """Read every head; where there is a cache, only those are fetched that neither it nor the pack has."""
        listed = tuple(self.store.list(self.keys.heads))
        cached = self.cache.load() if self.cache else {}
        heads = _current(listed, cached)
        if self.cache and len(listed) - len(heads) > MANY:
            heads |= _current(listed, self._pack.load())
        heads |= self._fetched([item for item in listed if item.key not in heads])
        if self.cache and heads != cached:
            self.cache.save(heads)
        found = {self.keys.module_of_head(key): head for key, head in sorted(heads.items())}
        return {module: self._met(tag, self._decoded(module, data)) for module, (tag, data) in found.items()}

    def still(self, records: Iterable[Record]) -> frozenset[str]:
        """Name those that nobody has begun to change since their records were made; one listing, and no more."""
        asked = {self.keys.head(record.module): record for record in records}
        where = next(iter(asked)) if len(asked) == 1 else self.keys.heads
        tags = {item.key: item.tag for item in self.store.list(where) if item.key in asked}
        return frozenset(record.module for key, record in asked.items() if self._is_of(record, key, tags.get(key)))

    def pack(self) -> None:
        """Put the heads that this process had to read or has written into the pack, when it lacks many of them."""
        if not self.cache or len(self._new) <= MANY:
            return
        packed = self._pack.load()
        if sum(packed.get(key) != head for key, head in self._new.items()) > MANY:
            self._pack.save({**packed, **self._new})

    def tag(self, module: str) -> str:
        """The tag of the head as it is now, "" when there is none: ask before an entry that frees the module."""
        own = self._dangerous.pop(module, "")
        key = self.keys.head(module)
        return own or next((item.tag for item in self.store.list(key, limit=1) if item.key == key), "")

    def claim_danger(self, record: Record) -> None:
        """Say that the module is held, before anything is. Raise LedgerUnreachable."""
        self._dangerous[record.module] = self._replaced(record) or ""

    def claim_safety(self, record: Record, over: str) -> None:
        """Say how the module stands, unless its head is not the one with the tag `over` any more; may not succeed."""
        try:
            self._replaced(record, over)
        except LedgerUnreachable:
            return  # readers look behind a head that claims danger, and the next writer rolls it forward

    @cached_property
    def _pack(self) -> HeadPack:
        return HeadPack(self.store, self.keys.head_pack)

    def _replaced(self, record: Record, over: str | None = None) -> str | None:
        key, data = self.keys.head(record.module), self._encoded(record)
        tag = self.store.replace(key, data, over=over)
        if tag:
            self._new[key] = (tag, data)
            self._met(tag, record)
        return tag

    def _met(self, tag: str, head: Record | None) -> Record | None:
        """Keep in mind which head stood there, as long as it claims safety."""
        if head and not head.holder:
            self._at_rest[self.keys.head(head.module)] = (tag, head.seq)
        return head

    def _is_of(self, record: Record, key: str, tag: str | None) -> bool:
        """Whether a head, as it is now, says nothing that a record does not know; without one there never was any."""
        if tag is None:
            return record.seq == 0
        met, seq = self._at_rest.get(key, ("", 0))
        return tag == met and not record.holder and record.seq >= seq

    def _fetched(self, listed: list[Listed]) -> Mapping[str, tuple[str, bytes]]:
        read = read_many(self.store, [item.key for item in listed])
        found = {item.key: (item.tag, data) for item, data in zip(listed, read, strict=True) if data is not None}
        self._new.update(found)
        return found

    def _encoded(self, record: Record) -> bytes:
        return encode_head(record, self.ledger(), self.blobs.put)

    def _decoded(self, module: str, data: bytes | None) -> Record | None:
        record = decode_head(data, self.ledger(), self.blobs.get) if data else None
        return record if record and record.module == module else None


def _current(listed: Iterable[Listed], known: Mapping[str, tuple[str, bytes]]) -> dict[str, tuple[str, bytes]]:
    return {item.key: known[item.key] for item in listed if known.get(item.key, ("",))[0] == item.tag}
