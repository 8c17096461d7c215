"""What of one module's log belongs to one run, and how the module stood when the run was done with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from hybridwrap.domain.engine_run import Action, PlannedChange
from hybridwrap.domain.entry import Adopt, Begin, Confirm, End, Entry, Late, Observe, Retain, Takeover
from hybridwrap.domain.fold import fold
from hybridwrap.domain.moments import after
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd, PendingModule
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.domain.trace import Fate, Step


class Share(Struct, frozen=True):
    """`entries` are the run's own, and those with which somebody else ended what it had begun."""

    record: Record
    entries: tuple[Entry, ...] = ()
    taken_over: Entry | None = None  # by another run

    @property
    def begin(self) -> Begin | None:
        return next((e.body for e in reversed(self.entries) if isinstance(e.body, Begin)), None)

    @property
    def end(self) -> End | None:
        """How the last operation ended, None while that is not known."""
        return next(reversed(self._ends), None)

    @property
    def evidence(self) -> tuple[str, ...]:
        """What the last end rests on, or the last look that followed it."""
        bodies = [entry.body.end if isinstance(entry.body, Late) else entry.body for entry in self.entries]
        return next((b.evidence for b in reversed(bodies) if isinstance(b, End | Observe) and b.evidence), ())

    @property
    def planned(self) -> tuple[PlannedChange, ...]:
        return self.begin.planned if self.begin else ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """Of all tries, in their order."""
        return tuple(step for end in self._ends for step in end.steps)

    def fate(self, change: PlannedChange) -> str:
        """How far one planned change came: done, failed, in doubt, not begun; "" while that is not known."""
        steps = [step for step in self.steps if step.address == change.address]
        fates = {step.fate for step in steps}
        if Fate.OPEN in fates:
            return "in doubt"
        if self.end is None:
            return ""
        if Fate.FAILED in fates:
            return "failed"
        if steps or self.end.outcome is Outcome.SUCCEEDED:
            half = change.action is Action.REPLACE and len({step.action for step in steps}) == 1
            return "half done" if half else "done"
        return "" if self.end.outcome is Outcome.UNKNOWN else "not begun"

    @property
    def began(self) -> str:
        """When the first try was planned, as far as the log knows: an `end` has how long the plan took."""
        first = next((e.time for e in self.entries), "")
        took = next((end.durations.get("plan", 0.0) for end in self._ends), 0.0)
        return after(first, -took) if first else ""

    @property
    def begun(self) -> str:
        """When the engine was first let at things; empty when it never was."""
        return next((entry.time for entry in self.entries if isinstance(entry.body, Begin)), "")

    @property
    def ended(self) -> str:
        held = not self.entries or isinstance(self.entries[-1].body, Begin | Confirm | Takeover)
        return "" if held else self.entries[-1].time

    @property
    def _ends(self) -> tuple[End, ...]:
        bodies = (e.body.end if isinstance(e.body, Late) else e.body for e in self.entries)
        return tuple(body for body in bodies if isinstance(body, End))


def share_of(run: str, module: str, log: Sequence[Entry]) -> Share:
    """Part a module's log; ids of runs sort by the time of their making."""
    runs = tuple(_runs(log))
    own = [index for index, made_by in enumerate(runs) if made_by == run]
    later = (index for index, made_by in enumerate(runs) if made_by > run)
    until = own[-1] + 1 if own else next(later, len(log))
    record = Record(module)
    for entry, digest in zip(log[:until], [*(entry.prev for entry in log[1:]), ""], strict=False):
        record = fold(record, entry, digest)
    return Share(record, tuple(log[index] for index in own), _taker(record, log[until:]))


def _runs(log: Sequence[Entry]) -> Iterator[str]:
    """The run behind each entry, "" for what no run did; an `end` belongs to the run that began the operation."""
    began: dict[str, str] = {}
    for entry in log:
        match entry.body:
            case Begin() | Takeover() as body:
                began[entry.operation] = body.run
                yield body.run
            case Observe() | Adopt() | Retain() as body:
                yield body.run
            case _:
                yield began.get(entry.operation, "")


def _taker(record: Record, rest: Sequence[Entry]) -> Entry | None:
    return next((e for e in rest if isinstance(e.body, Takeover)), None) if record.holder else None


def end_by_log(share: Share, pending: PendingModule | None) -> ModuleEnd:
    """Say how a module ended for a run of which no end is recorded."""
    if share.taken_over:
        return _superseded(share.taken_over)
    if share.entries:
        return _by_last(share, share.entries[-1])
    return ModuleEnd("pending", reason=pending.reason, waits_for=pending.waits_for) if pending else ModuleEnd("pending")


def _by_last(share: Share, last: Entry) -> ModuleEnd:
    match last.body:
        case Begin() | Confirm() | Takeover():
            reason = "begun, and no end is recorded: still at work, or killed"
            return ModuleEnd("running", operation=last.operation, reason=reason)
        case Late() as late:
            return ModuleEnd("superseded", operation=last.operation, reason=late.end.reason)
        case Observe() as seen if not share.end:
            return ModuleEnd("unchanged" if seen.status in (None, Status.OK) else str(seen.status), reason=seen.reason)
        case Adopt() | Retain() as decided:
            return ModuleEnd(str(share.record.status), reason=decided.reason)
    return _ended(share, share.end, last.operation) if share.end else ModuleEnd(str(share.record.status))


def _superseded(by: Entry) -> ModuleEnd:
    run = by.body.run if isinstance(by.body, Takeover) else ""
    return ModuleEnd("superseded", reason=f"taken over by {by.writer} in run {run}")


def _ended(share: Share, end: End, operation: str) -> ModuleEnd:
    cancelled = end.outcome is Outcome.CANCELLED
    return ModuleEnd(
        "stopped" if cancelled else str(share.record.status),
        operation=operation,
        reason="" if share.record.status is Status.OK and not cancelled else end.reason,
        errors=end.errors,
        counts=end.counts,
    )
