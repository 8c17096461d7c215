"""A saved run: plans that were kept to be applied later, and all that each of them rests on.

Keeps: what is applied is the plan that was saved, or a new one that does nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from hybridwrap.domain.duration import in_words
from hybridwrap.domain.engine_run import Action, PlannedChange
from hybridwrap.domain.entry import EngineIdentity, Source, StateMark, Writer
from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.ports import PlanOptions
from hybridwrap.domain.record import Record
from hybridwrap.domain.told_time import in_utc
from hybridwrap.errors import ApprovalOutdated

KEPT_SECONDS = 30 * 86_400.0  # as long as GitHub waits for an approval
PLAN_AGAIN = "hybridwrap plan --save"


class Basis(Struct, frozen=True):
    """A plan that was kept, and what it rests on.

    `plan` and `seal` are digests of what is stored encrypted beside it: the engine's files, and a `Seal`.
    """

    plan: str
    seal: str
    digest: str  # sha256 of the plan file
    seq: int  # of the last entry of the module's log
    tail: str
    state: StateMark
    source: Source
    engine: EngineIdentity
    folder: str  # the module's, where it was planned


class SavedPlan(Struct, frozen=True):
    """How the planning of one module ended; `basis` is there where a plan was kept."""

    result: str
    reason: str = ""
    planned: tuple[PlannedChange, ...] = ()
    counts: Mapping[str, int] = {}
    basis: Basis | None = None


class SavedInputs(Struct, frozen=True):
    """All values that went into a plan, secrets too."""

    values: Mapping[str, Json] = {}
    outside: Mapping[str, Json] = {}
    upstream: Mapping[str, Json] = {}
    caller: tuple[str, ...] = ()  # which of the values were given with the command


class Seal(Struct, frozen=True):
    """What only who has the ledger's key can have written of a plan: who can write to the store alone can't swap it."""

    run: str
    module: str
    digest: str
    tail: str
    planned: tuple[PlannedChange, ...]
    inputs: SavedInputs

    def fits(self, run: str, module: str, plan: SavedPlan) -> bool:
        basis = plan.basis
        said = (run, module, basis and basis.digest, basis and basis.tail, plan.planned)
        return said == (self.run, self.module, self.digest, self.tail, self.planned)


class SavedPart(Struct, frozen=True):
    """What one process planned of a saved run."""

    run: str
    time: str
    writer: Writer
    options: PlanOptions
    modules: Mapping[str, SavedPlan]


class SavedRun(Struct, frozen=True):
    """All parts of a saved run together; of two plans of one module the later one counts."""

    run: str
    time: str  # of its oldest part
    writer: Writer
    options: PlanOptions
    modules: Mapping[str, SavedPlan]

    @property
    def plans(self) -> tuple[str, ...]:
        """Name the modules of which a plan was kept."""
        return tuple(name for name, each in self.modules.items() if each.basis)


def joined(run: str, parts: Sequence[SavedPart]) -> SavedRun:
    """Put the parts of a run together, of which there is one at least. Raise ApprovalOutdated when they don't fit."""
    in_order = sorted(parts, key=lambda part: part.time)
    if any(part.options != in_order[0].options for part in in_order):
        raise ApprovalOutdated(f"the parts of run {run} were planned with different options", hint=PLAN_AGAIN)
    modules = {name: each for part in in_order for name, each in part.modules.items()}
    first = in_order[0]
    return SavedRun(run, first.time, first.writer, first.options, modules)


def refuse_expired(saved: SavedRun, now: datetime) -> None:
    """Raise ApprovalOutdated for a run whose plans are too old."""
    if (now - datetime.fromisoformat(saved.time)).total_seconds() > KEPT_SECONDS:
        raise ApprovalOutdated(
            f"run {saved.run} was planned at {in_utc(saved.time)}; saved plans are kept for {in_words(KEPT_SECONDS)}",
            hint=PLAN_AGAIN,
        )


def not_covered(approved: Iterable[PlannedChange], made: Iterable[PlannedChange]) -> tuple[str, ...]:
    """Say, address by address, what a plan does that an approved one did not."""
    known = {change.address: change.action for change in approved}
    return tuple(
        _told(change, known.get(change.address)) for change in made if known.get(change.address) != change.action
    )


def _told(change: PlannedChange, approved: Action | None) -> str:
    return (
        f"{change.action} {change.address} ({f'approved was: {approved}' if approved else 'not in the approved plan'})"
    )


class Now(Struct, frozen=True):
    """What a saved plan is compared with."""

    record: Record
    state: StateMark
    source: Source
    engine: EngineIdentity
    inputs: SavedInputs


def moved(saved: Basis, inputs: SavedInputs, now: Now) -> Iterator[str]:
    """Say what is not as it was when the plan was made, the most telling first."""
    record = now.record
    if record.tail != saved.tail:
        yield f"{record.command or 'an entry'} {record.operation or record.run} of {record.by} came since"
    if now.state.place != saved.state.place:
        yield f"its state is at {now.state.place}, was at {saved.state.place}"
    elif now.state != saved.state:
        yield f"its state is {_state(now.state)}, was {_state(saved.state)}"
    if now.source.digest != saved.source.digest:
        yield "its files have changed"
    if now.source.lock != saved.source.lock:
        yield "its dependency lock file has changed"
    if now.engine != saved.engine:
        yield f"the engine is {_engine(now.engine)}, the plan was made by {_engine(saved.engine)}"
    yield from _inputs_moved(inputs, now.inputs)


def _inputs_moved(was: SavedInputs, now: SavedInputs) -> Iterator[str]:
    if upstream := _differing(was.upstream, now.upstream):
        yield f"outputs that it uses have changed: {', '.join(upstream)}"
    own = [*_differing(was.values, now.values), *_differing(was.outside, now.outside)]
    if own and not upstream:
        yield f"its inputs have changed: {', '.join(own)}"


def _differing(was: Mapping[str, Json], now: Mapping[str, Json]) -> list[str]:
    """Name what two sets of values differ in; an absent value is not the same as null."""
    there = {*was, *now}
    return sorted(name for name in there if _spelled(was, name) != _spelled(now, name))


def _spelled(values: Mapping[str, Json], name: str) -> bytes:
    return canonical(values[name]) if name in values else b""


def _state(mark: StateMark) -> str:
    return f"at serial {mark.serial}" if mark.lineage else "not there"


def _engine(engine: EngineIdentity) -> str:
    return f"{engine.product} {engine.version}"
