"""When a module counts as absent: what the engine, its known objects and those who were asked come to.

Keeps: an exit code or an empty state is never enough, and who could not look has not seen that nothing is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.counting import first_of
from hybridwrap.domain.entry import CloudObject, StateMark
from hybridwrap.domain.evidence import Absence
from hybridwrap.domain.open_objects import STRAY
from hybridwrap.domain.status import Status

NAMED = 5  # objects in a sentence


class Answer(StrEnum):
    ABSENT = "absent"
    PRESENT = "present"
    UNVERIFIABLE = "unverifiable"  # forbidden, unreachable, out of time: nobody has looked


class Probe(Struct, frozen=True):
    """What one who was asked says; a search finds objects of the module, but not whether a certain one is gone."""

    by: str
    answer: Answer
    survivors: tuple[str, ...] = ()  # ids, as far as they were said
    detail: str = ""
    search: bool = False
    word: bool = False  # somebody says so who has looked

    def __str__(self) -> str:
        return " ".join(part for part in (f"{self.by}: {self.answer}", ", ".join(self.survivors), self.detail) if part)


class Case(Struct, frozen=True):
    """A module whose engine says that all is destroyed.

    `known` are the objects before that, `left` those that no delete was seen of and that no refresh found gone.
    """

    engine: Absence
    state: StateMark
    known: tuple[CloudObject, ...] = ()
    left: tuple[CloudObject, ...] = ()
    doubted: bool = False  # the module was unknown once in this incarnation

    @property
    def rounds(self) -> int:
        """How often probes have to be asked; after a doubt twice, as what was under way may have come late."""
        if _by_the_engine(self):
            return 0
        return 2 if self.doubted else 1


class Finding(Struct, frozen=True):
    """Where the module stands: destroyed, retained, or error; `objects` are what is or may be there."""

    status: Status
    reason: str
    objects: tuple[CloudObject, ...] = ()
    evidence: tuple[str, ...] = ()
    blind: bool = False  # the engine has done its part, and nobody has looked who says that something is there


def find(case: Case, rounds: Sequence[Sequence[Probe]]) -> Finding:
    """Weigh all that is known; `rounds` are the answers of those who were asked, once or twice."""
    probes = [probe for asked in rounds for probe in asked]
    why_not = _by_the_engine(case) or _by_probes(probes) or _unseen(case, probes) or _in_doubt(case, rounds)
    told = tuple(dict.fromkeys(map(str, probes)) if any(probe.word for probe in probes) else map(str, probes))
    if why_not:
        seen = bool(_by_the_engine(case)) or any(probe.answer is Answer.PRESENT for probe in probes)
        return Finding(Status.ERROR, why_not, _survivors(case, probes), told, blind=not seen)
    evidence = (*_evidence(case, by_word=any(probe.word for probe in probes)), *told)
    kept = tuple(o for o in case.left if o.retained)
    if kept or case.engine.forgotten:
        names = name_objects(kept) or ", ".join(case.engine.forgotten)
        return Finding(Status.RETAINED, f"destroyed but for what lives on unmanaged: {names}", kept, evidence)
    return Finding(Status.DESTROYED, _gone(case), (), evidence)


def with_word(asked: Iterable[Probe], word: Probe) -> tuple[Probe, ...]:
    """Put the word of somebody who has looked in the place of those who could not; who saw something stands."""
    return (*(probe for probe in asked if probe.answer is not Answer.UNVERIFIABLE), word)


def name_objects(objects: Iterable[CloudObject]) -> str:
    """Name a few objects, each by its address and id, and say how many there are besides."""
    return first_of([f"{o.address} {o.id}".strip() for o in objects], NAMED)


def what_is_left(left: Sequence[CloudObject], known: int) -> str:
    """Say how much of a module is left, and what."""
    return f"{len(left)} of {max(known, len(left))} left: {name_objects(left)}"


def tells_what_is_left(text: str) -> bool:
    return re.match(r"\d+ of \d+ left: ", text) is not None


def _by_the_engine(case: Case) -> str:
    engine = case.engine
    if not engine.readable:
        return "the engine's state can't be read"
    if engine.left:
        left = [CloudObject(i.address, id=i.id) for i in engine.left]
        return what_is_left(left, len(case.known))
    if not engine.same_lineage:
        return "the engine's state is not the one that was destroyed"
    return "" if engine.ended_well else "the engine's events have no end"


def _by_probes(probes: Sequence[Probe]) -> str:
    present = [probe for probe in probes if probe.answer is Answer.PRESENT]
    if present:
        return f"the engine says that all is destroyed, but {present[-1]}"
    blind = next((probe for probe in probes if probe.answer is Answer.UNVERIFIABLE), None)
    return f"the engine says that all is destroyed, but nobody could look: {blind}" if blind else ""


def _unseen(case: Case, probes: Sequence[Probe]) -> str:
    """Objects that no delete was seen of, and that none of those who were asked can have looked for."""
    looked, searched = any(not probe.search for probe in probes), bool(probes)
    unseen = [o for o in case.left if not o.retained and not (looked if o.id else searched)]
    return f"no delete was seen of {name_objects(unseen)}, and nobody was asked to look" if unseen else ""


def _in_doubt(case: Case, rounds: Sequence[Sequence[Probe]]) -> str:
    if not case.doubted or sum(map(bool, rounds)) >= case.rounds:
        return ""
    return "its outcome was unknown once, so that more may have been made than is known, and nobody was asked to look"


def _survivors(case: Case, probes: Sequence[Probe]) -> tuple[CloudObject, ...]:
    named = {name: None for probe in probes for name in probe.survivors}
    found = [_recognised(name, case.known) for name in named]
    if not found and any(probe.answer is Answer.PRESENT for probe in probes):
        found = [replace(o, open=True) for o in case.known]
    there = {(o.address, o.id): o for o in (*case.left, *found)}
    return tuple(there[key] for key in sorted(there))


def _recognised(name: str, known: Iterable[CloudObject]) -> CloudObject:
    """The known object that a probe names by its id, or by an ARN that ends with it."""
    fitting = (o for o in known if o.id and (name == o.id or name.endswith((f"/{o.id}", f":{o.id}"))))
    return replace(next(fitting, CloudObject(STRAY, id=name)), open=True)


def _gone(case: Case) -> str:
    count = len(case.known)
    told = f"{count} of {count} objects gone" if count else "no object was ever known"
    return f"{told}, state empty"


def _evidence(case: Case, *, by_word: bool) -> tuple[str, ...]:
    state = case.state
    mark = f"lineage {state.lineage}, serial {state.serial}" if state.lineage else "no state"
    seen = [o for o in case.known if o not in case.left]
    return (
        f"A3: {'a word for it' if by_word else 'looked for twice'}, as the outcome was unknown once"
        if case.doubted
        else "A2: every object that was ever known is accounted for",
        f"the engine's final summary, and its state read again: no object in {state.place} ({mark})",
        *([f"a delete seen, or found gone by a refresh: {name_objects(seen)}"] if seen else []),
    )
