"""What every part of one run works with."""

from __future__ import annotations

from math import inf

import msgspec
from msgspec import Struct

from hybridwrap.domain.ci import CiSystem, NoCi
from hybridwrap.domain.hook_calls import HookCaller
from hybridwrap.domain.inputs import Host
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.ports import Clock, Engines, Ids, OperationFolders, PlanOptions
from hybridwrap.domain.probing import Prober
from hybridwrap.domain.run import Run
from hybridwrap.domain.sources import Sources
from hybridwrap.domain.stack import Stack
from hybridwrap.run.knowledge import Knowledge
from hybridwrap.run.others import OtherStacks
from hybridwrap.run.stop import Stop
from hybridwrap.run.waiting import Waiting, Waits
from hybridwrap.run.watch import Watcher

PARALLELISM = 4  # modules at work at a time, where nobody says how many
SETTLE_SECONDS = 20.0  # one that was seen to arrive 15 s after its engine had died is the longest known


class Patience(Struct, frozen=True):
    """How long a module that somebody holds is waited for."""

    seconds: float = 0.0  # for a hybridwrap that is at work, or may be
    for_engine: bool = True  # as long as it takes, for an engine whose own hybridwrap is gone
    offered: bool = False  # whether the command can be told to wait


class Skip(Struct, frozen=True):
    """Which modules need no plan while they are unchanged; `runs` are the newest ones, for when each was planned."""

    runs: tuple[Run, ...]
    max_age_seconds: float = inf
    never: frozenset[str] = frozenset()


class Options(Struct, frozen=True):
    """What the caller asked for."""

    plan: PlanOptions = msgspec.field(default_factory=PlanOptions)
    parallelism: int = PARALLELISM
    timeout_seconds: float = inf  # of the whole run
    fail_fast: bool = False
    patience: Patience = msgspec.field(default_factory=Patience)
    state_moved: bool = False  # the operator's word that a state lies in another place than the recorded one
    not_moved: bool = False  # the operator's word that a new module is no other one under a new name
    skip: Skip | None = None
    yes_destroy: int | None = None  # so many objects may one plan destroy, whatever the module's guard says
    saved: str = ""  # the saved run by whose approval it acts; of a plan that is saved, its own id

    @property
    def command(self) -> str:
        """What the ledger calls an operation of this run."""
        return "destroy" if self.plan.destroy else "apply"


class Tools(Struct, frozen=True):
    """The adapters behind the ports, and the stack that they were built for."""

    stack: Stack
    ledger: Ledger
    engines: Engines
    folders: OperationFolders
    host: Host
    sources: Sources
    prober: Prober
    hooks: HookCaller
    clock: Clock
    ids: Ids
    ci: CiSystem = msgspec.field(default_factory=NoCi)
    settle_seconds: float = SETTLE_SECONDS  # how long a state that a killed engine sent may be on its way
    digest_key: bytes = b""  # for digests of what has secrets in it; without one they are not made
    others: OtherStacks = msgspec.field(default_factory=OtherStacks)


class Part(Struct, frozen=True):
    """What this process does of a run that it shares with others."""

    id: str
    name: str  # by which all of them know the run
    joins: bool = False  # takes whatever is ready, with all others who do so; else it does the modules that it was told
    among: frozenset[str] | None = None  # modules of the run, when it does what it was told; None: all of the stack


class Context(Struct, frozen=True):
    """One run at work."""

    run: str
    argv: tuple[str, ...]  # as typed, values of variables left out
    tools: Tools
    options: Options
    watch: Watcher
    stop: Stop
    knowledge: Knowledge
    part: Part | None = None
    waits: Waits = msgspec.field(default_factory=Waits)

    def waiting(self, module: str) -> Waiting:
        """Begin to wait for a module's sake."""
        return Waiting(self.tools.clock, self.stop, self.watch, self.waits, module)
