"""What is going on in a run: which module is in which phase, how far it came, what it is at now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from hybridwrap.cli.lines import in_order
from hybridwrap.domain.engine_run import Action, ChangeSummary, Hook, PlannedChange
from hybridwrap.domain.pace import for_each, seconds_left
from hybridwrap.domain.ports import Clock, EngineEvent
from hybridwrap.domain.run import ModuleEnd

STEPS = {Action.CREATE: 1, Action.UPDATE: 1, Action.DELETE: 1, Action.REPLACE: 2}  # others have no event of their own
VERBS = {
    Action.CREATE: "creating",
    Action.UPDATE: "changing",
    Action.DELETE: "destroying",
    Action.READ: "reading",
}
PLANNED = "planned"  # the plan is made: it waits for its approval, or for its turn


class Busy(Struct, frozen=True):
    """An object that the engine is at work on."""

    address: str
    verb: str
    since: float


@dataclass(slots=True)
class Work:
    """One module at work. Times are those of the monotonic clock."""

    module: str
    since: float
    phase: str = ""
    planned: dict[str, int] = field(default_factory=dict)  # address -> steps
    steps: Counter[str] = field(default_factory=Counter)  # address -> steps done
    busy: dict[str, Busy] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        return len(self.planned)

    @property
    def done(self) -> int:
        return sum(self.steps[address] >= steps for address, steps in self.planned.items())

    @property
    def longest_busy(self) -> Busy | None:
        return min(self.busy.values(), key=lambda busy: busy.since, default=None)

    def enter(self, phase: str) -> None:
        if phase == "plan":
            self.planned.clear()
        self.phase = phase
        self.busy.clear()

    def take(self, event: EngineEvent, now: float) -> None:
        match event:
            case PlannedChange() if event.action in STEPS:
                self.planned[event.address] = STEPS[event.action]
            case ChangeSummary("plan") if self.phase == "plan":
                self.enter(PLANNED)
            case Hook():
                self._step(event, now)

    def _step(self, hook: Hook, now: float) -> None:
        known = self.busy.get(hook.address)
        since = known.since if known else now
        match hook.phase:
            case "start":
                verb = f"running {hook.provisioner}" if hook.provisioner else VERBS.get(hook.action, "at work")
                self.busy[hook.address] = Busy(hook.address, verb, since)
            case "complete" | "errored" if hook.provisioner:
                self.busy[hook.address] = Busy(hook.address, VERBS[Action.CREATE], since)
            case "complete":
                self.busy.pop(hook.address, None)
                self.steps[hook.address] += hook.action in STEPS
            case "errored":
                self.busy.pop(hook.address, None)
                self.failed.append(hook.address)


class Board:
    """All modules of a run; its owner takes care that one thread at a time is here."""

    def __init__(self, clock: Clock, needs: Mapping[str, Sequence[str]]) -> None:
        self._clock = clock
        self.began = clock.monotonic()
        self.needs = dict(needs)
        self.work: dict[str, Work] = {}
        self.ends: dict[str, ModuleEnd] = {}
        self.ended_in: dict[str, str] = {}  # module -> the phase in which it ended

    def phase(self, module: str, phase: str) -> None:
        work = self.work.setdefault(module, Work(module, self._clock.monotonic()))
        work.enter(phase)

    def event(self, module: str, event: EngineEvent) -> None:
        if module in self.work:
            self.work[module].take(event, self._clock.monotonic())

    def ended(self, module: str, end: ModuleEnd) -> Work | None:
        """Close a module; return what was going on in it, None when it was never begun."""
        self.ends[module] = end
        work = self.work.pop(module, None)
        self.ended_in[module] = work.phase if work else ""
        return work

    @property
    def at_work(self) -> tuple[Work, ...]:
        """Modules whose engine runs, those that began first at the head."""
        running = [work for work in self.work.values() if work.phase != PLANNED]
        return tuple(sorted(running, key=lambda work: work.since))

    @property
    def counts(self) -> dict[str, int]:
        """How many modules ended how, then running, planned and not begun ones, always in one order; none is 0."""
        running = len(self.at_work)
        counted = Counter(end.result for end in self.ends.values())
        begun = len(self.work)
        waiting = len(self.needs) - len(self.ends) - begun
        last = {"running": running, PLANNED: counted.pop(PLANNED, 0) + begun - running}
        last["pending"] = counted.pop("pending", 0) + waiting
        ended = {word: counted[word] for word in in_order(counted)}
        return {word: count for word, count in {**ended, **last}.items() if count > 0}

    def elapsed(self) -> float:
        return self._clock.monotonic() - self.began

    def left(self, usual: Mapping[str, float], parallelism: int) -> float | None:
        """Seconds until all is done, as far as earlier runs can tell; None when they can't."""
        if not set(usual) & set(self.needs):
            return None
        return seconds_left(self.needs, dict(self._left_of_each(usual)), parallelism)

    def _left_of_each(self, usual: Mapping[str, float]) -> Iterator[tuple[str, float]]:
        now = self._clock.monotonic()
        for name, seconds in for_each(self.needs, usual).items():
            work = self.work.get(name)
            if name in self.ends:
                yield name, 0.0
            else:
                yield name, max(seconds - (now - work.since), 0.0) if work else seconds
