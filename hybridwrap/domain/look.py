"""Everything that was seen of one module by looking only: what a verdict is made of."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from hybridwrap.domain import guard, rescue
from hybridwrap.domain.engine_run import Action, PlannedChange
from hybridwrap.domain.left_behind import Liveness
from hybridwrap.domain.open_objects import Open
from hybridwrap.domain.record import Record
from hybridwrap.domain.state import EngineState, Found, instances_of
from hybridwrap.domain.state_lock import StateLock

_QUIET = frozenset({Action.NOOP, Action.READ})


class PlanSeen(Struct, frozen=True):
    """What a plan says that locked nothing and wrote nothing; its drift is what a refresh alone would change."""

    changes: bool
    actions: tuple[PlannedChange, ...] = ()  # reads and no-ops left out
    drifted: tuple[PlannedChange, ...] = ()


class Look(Struct, frozen=True):
    """One module: its record, and what its host, its state and its engine say beside it."""

    record: Record
    liveness: Liveness | None = None  # of the operation that holds it
    source_gone: bool = False  # its folder is not there: it can only be torn down, with the source that the ledger has
    orphan: bool = False  # the manifest does not declare it any more
    unsent: bool = False  # its result lies on this host and is not in the ledger
    comparison: guard.Comparison | None = None  # None: nobody could look at the state
    found: Found = None
    kept: rescue.Comparison | None = None  # a state that was not saved, beside the one in its place
    kept_at: str = ""
    lock: StateLock | None = None
    nothing_begun: bool = False  # by the events: the engine ended before it touched an object
    open: Open = msgspec.field(default_factory=Open)
    not_imported: frozenset[str] = frozenset()  # addresses whose import the engine has just refused
    names: Mapping[str, str] = {}  # by address: names and tags in the plan
    plan: PlanSeen | None = None
    obstacle: str = ""  # why there is no plan, or no look at the state
    obstacle_hint: str = ""
    imports_file: str = ""

    @property
    def module(self) -> str:
        return self.record.module

    @property
    def state(self) -> EngineState | None:
        return self.found if isinstance(self.found, EngineState) else None

    @property
    def holds_objects(self) -> bool:
        """Whether the state has objects, or may have some."""
        instances = instances_of(self.found)
        return instances is None or bool(instances)

    @property
    def lost(self) -> bool:
        """Whether the state's place holds nothing because a kill emptied it: then all that is known can be imported."""
        return self.state is not None and self.state.zero_bytes

    @property
    def lock_is_ours(self) -> bool:
        return self.lock is not None and self.lock.id == self.record.state_lock


def seen_in(planned: tuple[PlannedChange, ...], drifted: tuple[PlannedChange, ...], *, changes: bool) -> PlanSeen:
    actions = tuple(change for change in planned if change.action not in _QUIET)
    return PlanSeen(changes, actions, drifted)
