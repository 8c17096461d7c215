"""What must hold after every fault, as numbers for the scorecard: all but the time are zero."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from hybridwrap.cli.compose import Workshop
from hybridwrap.domain.entry import Kind
from hybridwrap.domain.ports import ModuleEngine
from hybridwrap.domain.state import EngineState
from hybridwrap.domain.state_lock import StateLock
from hybridwrap.domain.status import Status
from tests.support.fakecloud.cloud import Cloud, CloudThing
from tests.support.fakecloud.faults import Operation
from tests.support.lost_runner import workshop_of
from tests.support.project import Project

MODULE = "network"  # the one that makes objects in the cloud


@dataclass(frozen=True)
class Measured:
    """Counts of what must never happen."""

    results_lost: int = 0  # objects that neither the engine's state nor the ledger knows of
    mutations_without_begin: int = 0
    unrun_shown_as_error: int = 0
    duplicates: int = 0
    orphaned_locks: int = 0  # of the engine, on the state
    unfinished: int = 0  # folders on this host that the next command would have to look at
    flaws: tuple[str, ...] = ()  # of the ledger


def measure(project: Project, cloud: Cloud) -> Measured:
    workshop = workshop_of(project)
    engine = workshop.tools.engines.at(workshop.stack.modules[MODULE])
    lock = engine.state_lock()
    names = Counter(thing.name for thing in cloud.objects())
    return Measured(
        results_lost=sum(not _is_known(thing, workshop, engine) for thing in cloud.objects()),
        mutations_without_begin=_unannounced(workshop, cloud),
        unrun_shown_as_error=sum(_is_wrongly_failed(workshop, name) for name in workshop.stack.modules),
        duplicates=sum(count - 1 for count in names.values()),
        orphaned_locks=int(isinstance(lock, StateLock)),
        unfinished=len(workshop.folders.unfinished()),
        flaws=tuple(flaw for name in workshop.stack.modules for flaw in workshop.ledger.verify(name)),
    )


def _is_known(thing: CloudThing, workshop: Workshop, engine: ModuleEngine) -> bool:
    """Whether its id is known, or at least that its making has begun."""
    state, objects = engine.state(), workshop.ledger.record(MODULE).objects
    in_state = isinstance(state, EngineState) and any(instance.id == thing.id for instance in state.instances)
    begun = any(o.open and not o.id and o.address.endswith(f".{thing.name}") for o in objects)
    return in_state or begun or any(o.id == thing.id for o in objects)


def _unannounced(workshop: Workshop, cloud: Cloud) -> int:
    begins = [entry.time for entry in workshop.ledger.history(MODULE) if entry.kind is Kind.BEGIN]
    first = datetime.fromisoformat(min(begins)) if begins else None
    changing = [call for call in cloud.calls() if call.operation in (Operation.CREATE, Operation.UPDATE)]
    return sum(first is None or datetime.fromisoformat(call.started) < first for call in changing)


def _is_wrongly_failed(workshop: Workshop, module: str) -> bool:
    never_ran = not any(entry.kind is Kind.BEGIN for entry in workshop.ledger.history(module))
    return never_ran and workshop.ledger.record(module).status is not Status.NONE
