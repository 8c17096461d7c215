"""What is to be known of a module that is not well, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from hybridwrap.cli.failures import told
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.lines import local_moment, some, ticking
from hybridwrap.cli.overview import Overview
from hybridwrap.cli.scene import place_of
from hybridwrap.counting import count_of
from hybridwrap.domain.drift import Difference
from hybridwrap.domain.drift_checks import last_checked
from hybridwrap.domain.moments import seconds_between
from hybridwrap.domain.status import Status
from hybridwrap.run.standing import Standing, summary_of

WITHOUT_OBJECTS = frozenset({Status.NONE, Status.DESTROYED, Status.RETAINED})  # none that could drift, or are ours
WARNINGS = 2  # that are told; each may be of one object of many


def said(standing: Standing, seen: Overview) -> Iterator[str]:
    """Yield them, the reason first; some may be empty."""
    summary = summary_of(standing.errors) if standing.errors else ""
    if summary and standing.reason.startswith(summary):
        error, root = standing.errors[0], seen.stack.root
        more = summary.removeprefix(summary_of(standing.errors[:1]))
        yield told(error, place_of(error, root / standing.source, root)) + more
        yield standing.reason.removeprefix(summary).removeprefix("; ")
    else:
        yield standing.reason
    if sign := seen.signs.get(standing.module):
        yield f"last sign of life {ticking(seconds_between(sign, seen.now.isoformat()))} ago"
    if standing.open:
        yield f"began, and nobody knows how it ended: {_named(standing)}"
    if drifted := new_drift(standing, seen.today):
        yield f"not as the state says: {some([difference.address for difference in drifted])}"
    if standing.unapplied and standing.status is Status.OK:
        yield str(standing.unapplied)
    yield from standing.warnings[:WARNINGS]
    if (beyond := len(standing.warnings) - WARNINGS) > 0:
        look = as_typed(f"hybridwrap show {standing.run} -m {standing.module}", seen.said)
        yield f"and {count_of(beyond, 'more warning')}: {look}"
    if standing.owner and standing.owner not in {other.module for other in seen.standings}:
        yield f"goes with {standing.owner}"


def _named(standing: Standing) -> str:
    names = [f"{o.address} ({o.id})" if o.id else o.address for o in standing.open]
    return some(names)


def new_drift(standing: Standing, today: str) -> tuple[Difference, ...]:
    """What differs and is not accepted."""
    return standing.drift.new(today) if standing.drift else ()


def looked_for_drift(seen: Overview) -> Iterator[str]:
    """Say when drift was last looked for, as long ago as that is in any module, and where it was not since a change."""
    there = [standing for standing in seen.standings if standing.status not in WITHOUT_OBJECTS]
    checked = {standing.module: last_checked(standing, seen.runs) for standing in there}
    found = [time for time in checked.values() if time]
    if found:
        never = [module for module, time in checked.items() if not time]
        more = f"; not since the last change: {some(never)}" if never else ""
        yield f"drift was last looked for {local_moment(min(found))}{more}"
