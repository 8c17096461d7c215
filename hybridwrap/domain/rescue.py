"""Whether a state that the engine could not save may be put back in its place.

Keeps: nothing that lies there is lost by it, and an operator has the word wherever two states tell two stories.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.entry import CloudObject, StateMark
from hybridwrap.domain.state import EngineState, Found, Instance, Unreadable


class Fit(StrEnum):
    """How a kept state relates to what lies in its place; what people see."""

    FIRST = "there is no state in its place, and was none"
    NEWER = "the state in its place is the one it was made from"
    SAVED = "what it holds is in its place already"
    OLDER = "the state in its place is newer"
    FORKED = "the state in its place was changed by somebody else"
    FOREIGN = "the state in its place is of another lineage"
    GONE = "the state that it was made from is gone"
    UNREADABLE = "what lies in its place can't be read"


SAFE = frozenset({Fit.FIRST, Fit.NEWER})


class Comparison(Struct, frozen=True):
    """A kept state beside what lies in its place: objects that only one of the two has."""

    fit: Fit
    kept: EngineState
    there: Found
    only_kept: tuple[Instance, ...] = ()
    only_there: tuple[Instance, ...] = ()

    @property
    def safe(self) -> bool:
        return self.fit in SAFE


def compare(kept: EngineState, before: StateMark, there: Found) -> Comparison:
    """Compare a kept state with the one in its place; `before` is what its operation was planned on."""
    if isinstance(there, Unreadable):
        return Comparison(Fit.UNREADABLE, kept, there)
    if there is None:
        return Comparison(Fit.GONE if before.lineage else Fit.FIRST, kept, there, only_kept=kept.instances)
    if there.zero_bytes:  # what a save that failed half-way leaves: there is nothing to lose
        return Comparison(Fit.FIRST, kept, there, only_kept=kept.instances)
    only_kept, only_there = _without(kept.instances, there.instances), _without(there.instances, kept.instances)
    beside = Comparison(_by_serial(kept, there), kept, there, only_kept, only_there)
    return replace(beside, fit=_by_content(beside, before, there))


def _by_serial(kept: EngineState, there: EngineState) -> Fit:
    if there.lineage != kept.lineage:
        return Fit.FOREIGN
    if there.serial == kept.serial:
        return Fit.FORKED
    return Fit.OLDER if there.serial > kept.serial else Fit.NEWER


def _by_content(beside: Comparison, before: StateMark, there: EngineState) -> Fit:
    kept = beside.kept
    nothing_more = kept.readable and not beside.only_kept and there.outputs.items() >= kept.outputs.items()
    nothing_less = kept.readable and not beside.only_there
    match beside.fit:
        case Fit.NEWER:
            untouched = (there.lineage, there.serial) == (before.lineage, before.serial)
            return Fit.NEWER if untouched or nothing_less else Fit.FORKED
        case Fit.FORKED:
            return Fit.SAVED if nothing_more and nothing_less else Fit.FORKED
        case fit:
            return Fit.SAVED if nothing_more else fit


def _without(instances: Iterable[Instance], others: Iterable[Instance]) -> tuple[Instance, ...]:
    known = {(i.address, i.id) for i in others}
    return tuple(i for i in instances if (i.address, i.id) not in known)


def belongs(kept: EngineState, place_lineage: str, objects: Iterable[CloudObject]) -> bool:
    """Whether a state found in a folder is a module's own: several modules may share one folder.

    By the lineage of the recorded state, else by the ids of the objects that the module is known to have made.
    """
    if place_lineage:
        return kept.lineage == place_lineage
    known = {(o.address, o.id) for o in objects if o.id}
    return bool(kept.instances) and all((i.address, i.id) in known for i in kept.instances if i.id)
