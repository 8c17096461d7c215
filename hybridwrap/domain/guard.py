"""Whether the engine's state is the one that the ledger recorded."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from hybridwrap.domain.entry import EngineIdentity, StateMark
from hybridwrap.domain.record import Record
from hybridwrap.domain.state import EngineState, Instance
from hybridwrap.domain.status import Status
from hybridwrap.domain.version import parse_version


class Match(StrEnum):
    SAME = "same"
    ADVANCED = "changed outside"
    ABSENT = "absent"
    OLDER = "older"
    FOREIGN = "of another lineage"
    MOVED = "in another place"
    NEW = "not recorded"


SAFE = frozenset({Match.SAME, Match.ADVANCED, Match.NEW})


class Comparison(Struct, frozen=True):
    match: Match
    recorded: StateMark | None
    found: StateMark

    @property
    def safe(self) -> bool:
        return self.match in SAFE

    def __str__(self) -> str:
        if self.recorded and self.match is Match.ADVANCED:
            return f"changed outside (serial {self.recorded.serial} -> {self.found.serial})"
        return f"the engine's state is {self.match}"


def written_by_newer(state: EngineState | None, engine: EngineIdentity) -> str:
    """Say that an engine is older than the one that wrote a state, "" when it is not; patches do not matter."""
    if state is None or not state.engine_version:
        return ""
    try:
        wrote, runs = parse_version(state.engine_version), parse_version(engine.version)
    except ValueError:
        return ""
    if wrote.numbers[:2] <= runs.numbers[:2]:
        return ""
    return (
        f"its state was written by version {state.engine_version}; {engine.product} {engine.version} is older, "
        "and what it writes may lack what the newer one kept in it"
    )


def compare_with(record: Record, found: StateMark, instances: Sequence[Instance] | None, *, moved: bool) -> Comparison:
    """Compare a module's record with the state that is there: what is destroyed has none to lose or to mistake."""
    if record.settled is Status.DESTROYED and instances == ():
        return Comparison(Match.NEW, record.state, found)
    return compare(record.state, found, moved=moved)


def compare(recorded: StateMark | None, found: StateMark, *, moved: bool = False) -> Comparison:
    """Compare what the last record says with what lies there now; lineage "" stands for no state.

    `moved`: somebody vouches that the state lies in another place now.
    """
    return Comparison(_match(recorded, found, moved=moved), recorded, found)


def _match(recorded: StateMark | None, found: StateMark, *, moved: bool) -> Match:
    if recorded is None:
        return Match.NEW
    if recorded.place != found.place and not moved:
        return Match.MOVED
    if recorded.lineage and found.lineage:
        return _of_two_states(recorded, found)
    if recorded.lineage:
        return Match.ABSENT
    return Match.ADVANCED if found.lineage else Match.SAME


def _of_two_states(recorded: StateMark, found: StateMark) -> Match:
    if recorded.lineage != found.lineage:
        return Match.FOREIGN
    if found.serial < recorded.serial:
        return Match.OLDER
    return Match.SAME if found.serial == recorded.serial else Match.ADVANCED
