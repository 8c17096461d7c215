"""Runs that many processes share under one name: the run's document, a part for each process, each module's end.

Keeps: of all who come with one name the first makes the run; each writes keys of its own, so nothing is overwritten;
only the summary is replaced, and what it lacks is read beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.append import Draft, Fate, settle, store_once
from hybridwrap.domain.codec import decode, encode
from hybridwrap.domain.keys import Keys, run_end
from hybridwrap.domain.merging import FINE, Word, last_words, merged
from hybridwrap.domain.ports import Clock, Ids, Store
from hybridwrap.domain.reading import read_many
from hybridwrap.domain.run import ModuleEnd, Run, RunEnd, RunStart
from hybridwrap.domain.run_listing import Listing, Told, Turn, listing_of
from hybridwrap.domain.ulid import made_at
from hybridwrap.errors import LedgerDamaged, LedgerUnreachable, UsageError

SHARING = ("plan", "apply", "destroy", "drift")  # commands whose runs can be shared
NAME = re.compile(r"[A-Za-z0-9._:/@+-]{1,80}")
OLDEST = timedelta(days=35)  # GitHub lets a run be repeated for 30 days


class Named(Struct, frozen=True):
    """What lies under a name."""

    run: str
    name: str


class Taken(Struct, frozen=True):
    """What a turn says: whose it is."""

    part: str


class Sign(Struct, frozen=True):
    number: int


class SharedRuns:
    def __init__(self, store: Store, keys: Keys, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._keys = keys
        self._clock = clock
        self._ids = ids

    def named(self, command: str, name: str) -> str:
        """Find the run that a command knows by a name, or make it. Raise UsageError for a name that won't do."""
        if not NAME.fullmatch(name):
            raise UsageError(f"{name!r} can't be the name of a run: up to 80 of A-Z a-z 0-9 . _ : / @ + -", hint="")
        key = self._keys.shared(command, name)
        if (run := self._read_name(key)) is None:
            landing = settle(self._store, self._clock, Draft(key, encode(Named(self._ids.new(), name))))
            run = self._read_name(key)
            if run is None:
                raise LedgerUnreachable(f"{self._store.place}: {key} could not be stored: {landing.detail}")
        made = made_at(run)
        if made is None or self._clock.now() - made > OLDEST:
            raise UsageError(f"run {name} began on {made:%Y-%m-%d}: each run needs a name of its own", hint="")
        return run

    def known(self, command: str, name: str) -> str | None:
        """The run that a command knows by a name, None when there is none yet."""
        return self._read_name(self._keys.shared(command, name)) if NAME.fullmatch(name) else None

    def known_by(self, name: str) -> str | None:
        """The newest run of that name, None when there is none."""
        found = [self.known(command, name) for command in SHARING]
        return max(filter(None, found), default=None)

    def document(self, run: str) -> RunStart | None:
        """What the first process of a run set out to do; None before it said so."""
        key = self._key(run)
        data = self._store.read(key)
        return decode(data, RunStart, key) if data is not None else None

    def start(self, start: RunStart, *, joins: bool = False) -> None:
        """Begin a part, and the run, if nobody else has; who joins brings no modules of its own.

        Raise LedgerUnreachable.
        """
        self._found(start)
        part = replace(start, modules=(), edges={}, inputs="", carried={}) if joins else start
        store_once(self._store, self._clock, self._keys.part(start.run, start.part), encode(part))

    def _found(self, start: RunStart) -> None:
        landing = settle(self._store, self._clock, Draft(self._key(start.run), encode(start)))
        if landing.fate not in (Fate.COMMITTED, Fate.TAKEN):
            raise LedgerUnreachable(f"{self._store.place}: run {start.run} could not be stored: {landing.detail}")

    def tell(self, run: str, part: str, module: str, end: ModuleEnd) -> None:
        """Say at once how a module ended. Raise LedgerUnreachable."""
        store_once(self._store, self._clock, self._keys.told(run, part, module, end.result), encode(end))

    def end_told(self, told: Told) -> ModuleEnd:
        """Read how a module ended. Raise LedgerUnreachable."""
        return decode(next(self._read([told.key])), ModuleEnd, told.key)

    def take(self, run: str, part: str, module: str, number: int) -> bool:
        """Take up a module, so that no other process plans it; say whether nobody else was faster.

        It spreads the work and proves nothing: what may be changed is decided by `begin` alone.
        """
        key = self._keys.turn(run, module, number)
        return settle(self._store, self._clock, Draft(key, encode(Taken(part)))).fate is Fate.COMMITTED

    def taken_by(self, turn: Turn) -> str:
        """The part whose turn it is. Raise LedgerUnreachable."""
        return decode(next(self._read([turn.key])), Taken, turn.key).part

    def sign(self, run: str, part: str, number: int) -> None:
        """Show that a part is alive. Raise LedgerUnreachable."""
        self._store.replace(self._keys.sign(run, part), encode(Sign(number)))

    def end(self, part: str, end: RunEnd) -> None:
        """End a part, and sum the run up if it looks as if that was the last one. Raise LedgerUnreachable."""
        store_once(self._store, self._clock, run_end(self._keys.part(end.run, part)), encode(end))
        listing, start = self.look(end.run), self._must_have_begun(end.run)
        key = run_end(self._key(end.run))
        found = self._store.read(key)
        summary = decode(found, RunEnd, key) if found else None
        all_told = summary is None and {told.module for told in listing.told}.issuperset(start.modules)
        if not all_told and not listing.ended.issuperset(listing.begun):
            return  # those who are at work will do so; one that was killed is in nobody's way
        run = self._up_to_date(Run(start, summary), listing)
        if run.end:
            self._store.replace(key, encode(run.end))

    def codes(self, run: str) -> tuple[int, ...]:
        """The exit codes of all modules that did not end well, whoever did them. Raise LedgerUnreachable."""
        told = {(each.module, each.part): each for each in self.look(run).told}
        words = ((each.module, Word(each.part, ModuleEnd(each.result))) for each in told.values())
        bad = {module: word.part for module, word in last_words(words).items() if word.end.result not in FINE}
        return tuple(self.end_told(told[each]).exit_code for each in bad.items())

    def look(self, run: str) -> Listing:
        """List what there is of a run. Raise LedgerUnreachable."""
        prefix = self._keys.parts(run)
        return listing_of(prefix, self._store.list(prefix))

    def read(self, run: str) -> Run:
        """Read a run with all its parts. Raise LedgerDamaged, LedgerUnreachable."""
        return merged(self._must_have_begun(run), None, self._parts(run, self.look(run)))

    def brought_up_to_date(self, run: Run) -> Run:
        """Read as little of a shared run as it takes: what its summary lacks."""
        return self._up_to_date(run, self.look(run.start.run))

    def _up_to_date(self, run: Run, listing: Listing) -> Run:
        known = set(run.end.parts) if run.end else set()
        lacking = tuple(part for part in listing.begun if part not in known)
        return merged(run.start, run.end, self._parts(run.start.run, replace(listing, begun=lacking)))

    def _must_have_begun(self, run: str) -> RunStart:
        start = self.document(run)
        if start is None:
            raise LedgerDamaged(f"{self._store.place}: run {run} has no document")
        return start

    def _parts(self, run: str, listing: Listing) -> tuple[Run, ...]:
        keys = [self._keys.part(run, part) for part in listing.begun]
        ended = [part for part in listing.begun if part in listing.ended]
        end_keys = [run_end(self._keys.part(run, part)) for part in ended]
        told = [told for told in listing.told if told.part in listing.begun and told.part not in listing.ended]
        read = self._read(keys + end_keys + [each.key for each in told])
        starts = [decode(data, RunStart, key) for key, data in zip(keys, read, strict=False)]
        ends = {part: decode(data, RunEnd, part) for part, data in zip(ended, read, strict=False)}
        by_part: dict[str, dict[str, ModuleEnd]] = {}
        for each, data in zip(told, read, strict=False):
            by_part.setdefault(each.part, {})[each.module] = decode(data, ModuleEnd, each.key)
        return tuple(Run(start, ends.get(start.part), by_part.get(start.part, {})) for start in starts)

    def _read(self, keys: list[str]) -> Iterator[bytes]:
        for key, data in zip(keys, read_many(self._store, keys), strict=True):
            if data is None:
                raise LedgerUnreachable(f"{self._store.place}: {key} was listed and can't be read")
            yield data

    def _read_name(self, key: str) -> str | None:
        data = self._store.read(key)
        return decode(data, Named, key).run if data is not None else None

    def _key(self, run: str) -> str:
        made = made_at(run)
        if made is None:
            raise LedgerDamaged(f"run {run} has no id that says when it was made")
        return self._keys.run(run, made)
