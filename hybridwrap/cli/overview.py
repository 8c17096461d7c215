"""Where a stack stands in one environment, as read at one moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.cli.compose import Workshop, equip, look_at
from hybridwrap.cli.damage import damage_of
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.options import NOWHERE, Place
from hybridwrap.domain.damage import Damage
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.pending import pending_of
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import Run
from hybridwrap.domain.stack import Stack
from hybridwrap.domain.status import Status
from hybridwrap.run.here import known_here
from hybridwrap.run.lookalike import told_of_moved
from hybridwrap.run.merged import told_of_unapplied
from hybridwrap.run.recorded import RUNS_LOOKED_AT
from hybridwrap.run.selection import Selection, select
from hybridwrap.run.standing import Standing, standings
from hybridwrap.run.teardown_remarks import teardown_remarks

# The first words of a summary are those that somebody has to do something about.
GRAVEST_FIRST = (
    *(Status.UNKNOWN, Status.ERROR, Status.RUNNING, Status.PENDING),
    *(Status.NONE, Status.RETAINED, Status.DESTROYED, Status.OK),
)


class Overview(Struct, frozen=True):
    stack: Stack
    place: str  # of the ledger
    now: datetime
    standings: tuple[Standing, ...]  # the selected ones, needs first
    runs: tuple[Run, ...]  # newest first
    signs: Mapping[str, str] = {}  # module that is held -> time of its last sign of life

    damage: tuple[Damage, ...] = ()  # what of them could not be read, and of the runs

    asked: Place = NOWHERE  # what the caller said

    @property
    def said(self) -> Place:
        """What commands to type next must say, too."""
        return replace(self.asked, environment=self.stack.environment if len(self.stack.environments) > 1 else None)

    @property
    def today(self) -> str:
        """In UTC, YYYY-MM-DD."""
        return f"{self.now:%Y-%m-%d}"

    @property
    def counts(self) -> dict[Status, int]:
        counts = Counter(standing.status for standing in self.standings)
        return {status: counts[status] for status in GRAVEST_FIRST if counts[status]}


def overview(place: Place, selection: Selection) -> Overview:
    """Read it; no engine is started. Raise UsageError, InvalidManifest, LedgerUnreachable."""
    seen = replace(overview_of(equip(look_at(place)), selection), asked=place)
    told = (replace(standing, reason=as_typed(standing.reason, seen.said)) for standing in seen.standings)
    return replace(seen, standings=tuple(told))


def overview_of(workshop: Workshop, selection: Selection) -> Overview:
    stack, ledger = workshop.stack, workshop.ledger
    records, runs = ledger.records(stack.modules), ledger.runs(RUNS_LOOKED_AT)
    here = {**teardown_remarks(runs, records), **known_here(workshop.tools, records)}
    moved = told_of_moved(workshop.tools, records)
    unapplied = told_of_unapplied(workshop.tools, records)
    standing = standings(stack, records, pending_of(runs, records), here=here, moved=moved)
    found = tuple(replace(each, unapplied=unapplied.get(each.module)) for each in standing)
    chosen = _chosen(stack, _narrowed(workshop, selection, records), found)
    damage = damage_of(ledger.damage, {standing.module for standing in chosen})
    return Overview(stack, ledger.place, workshop.tools.clock.now(), chosen, runs, _signs(ledger, chosen), damage)


def _narrowed(workshop: Workshop, selection: Selection, records: Mapping[str, Record]) -> Selection:
    if selection.changed is None and not selection.unapplied:
        return selection
    from hybridwrap.cli.narrowing import narrowed

    return narrowed(workshop, selection, records).selection


def _chosen(stack: Stack, selection: Selection, found: tuple[Standing, ...]) -> tuple[Standing, ...]:
    """Those that are selected; modules that only the ledger knows when the whole stack is, or their status fits."""
    status = {standing.module: standing.status for standing in found}
    names = select(stack, selection, status.__getitem__)
    whole = set(names) == set(stack.modules)
    return tuple(s for s in found if s.module in names or (whole and s.module not in stack.modules))


def _signs(ledger: Ledger, found: Sequence[Standing]) -> dict[str, str]:
    running = [standing for standing in found if standing.status is Status.RUNNING]
    beats = (beat for standing in running for beat in ledger.beats(standing.module))
    operations = {standing.operation for standing in running}
    return {beat.module: beat.time for beat in beats if beat.operation in operations}
