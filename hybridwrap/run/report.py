"""One run as the ledger tells it: a projection.

Keeps: the same ledger gives the same report, on any machine, whether the run came to its end or was killed; what later
runs did changes nothing in it but what it says in `since`.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from os.path import normpath
from pathlib import PurePosixPath

from msgspec import Struct

from hybridwrap.domain.beat import Beat
from hybridwrap.domain.engine_run import Diagnostic, PlannedChange
from hybridwrap.domain.entry import EngineIdentity, RecordedInput, Source
from hybridwrap.domain.hooks import HookRun
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.moments import after, seconds_between
from hybridwrap.domain.pace import critical_path
from hybridwrap.domain.pending import pending_of
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd, PendingModule, Run, RunStart
from hybridwrap.domain.status import Status
from hybridwrap.errors import LedgerDamaged, UsageError
from hybridwrap.run.share import Share, end_by_log, share_of

READ_AT_ONCE = 16
DONE = frozenset({"ok", "unchanged", "destroyed", "retained", "planned", "accepted", "empty"})
TOLD_LATER = frozenset({"unsent"})  # results that the ledger may have got after the run's end was written


class Since(Struct, frozen=True):
    """How a module stands by what later runs did."""

    status: Status
    run: str
    command: str
    time: str


class ModuleReport(Struct, frozen=True):
    """One module of a run: how it ended there, and its share of the log."""

    module: str
    needs: tuple[str, ...]
    end: ModuleEnd
    share: Share
    planned: tuple[PlannedChange, ...] = ()
    beat: Beat | None = None  # the last sign of life of an operation without an end
    since: Since | None = None

    @property
    def record(self) -> Record:
        """What the ledger said of it when the run was done with it."""
        return self.share.record

    @property
    def result(self) -> str:
        return self.end.result

    @property
    def done(self) -> bool:
        return self.result in DONE

    @property
    def open(self) -> bool:
        """Whether somebody still has to do something about it."""
        return not self.done and not (self.since and self.since.status in (Status.OK, Status.DESTROYED))

    @property
    def began(self) -> str:
        """When its turn came; empty when it never did."""
        return self.end.began or self.share.began

    @property
    def ended(self) -> str:
        """Empty while it is at work, and when nobody saw it end."""
        if self.share.entries:
            return self.share.ended
        return after(self.began, self.end.seconds) if self.began else ""

    @property
    def seconds(self) -> float:
        """How long its turn took, 0 when that is not known."""
        return seconds_between(self.began, self.ended) if self.began and self.ended else self.end.seconds

    def place(self, error: Diagnostic) -> str:
        """`file:line` as seen from the manifest, "" when the engine names no file."""
        file = normpath(PurePosixPath(self.folder, error.file)) if error.file else ""
        return f"{file}:{error.line}" if file and error.line else file

    @property
    def folder(self) -> str:
        """Of the module's source, as seen from the manifest; empty when the ledger has never heard of it."""
        declared = self.share.begin.declared if self.share.begin else self.record.declared
        return declared.source if declared else ""

    @property
    def status(self) -> Status:
        """Pending is derived: the record has what it was."""
        pending = self.result == "pending" and self.record.status is not Status.RUNNING
        return Status.PENDING if pending else self.record.status

    @property
    def engine(self) -> EngineIdentity | None:
        return self.share.begin.engine if self.share.begin else self.record.engine

    @property
    def source(self) -> Source | None:
        return self.share.begin.source if self.share.begin else self.record.source

    @property
    def inputs(self) -> Mapping[str, RecordedInput]:
        return self.share.begin.inputs if self.share.begin else self.record.inputs


class Report(Struct, frozen=True):
    stack: str
    environment: str
    start: RunStart
    modules: tuple[ModuleReport, ...]
    ended: str = ""  # empty while the run is at work, and when it was killed
    exit_code: int | None = None
    parts: tuple[Run, ...] = ()  # what each process did of a run that many shared
    hooks: tuple[HookRun, ...] = ()  # of the run itself, in all its processes

    @property
    def carried(self) -> Mapping[str, PendingModule]:
        """What earlier runs had left pending, and this one did not select."""
        return self.start.carried

    @property
    def last_seen(self) -> str:
        """The latest moment that the ledger knows of this run."""
        times = [entry.time for module in self.modules for entry in module.share.entries]
        beats = [module.beat.time for module in self.modules if module.beat]
        parts = [part.start.time for part in self.parts]
        return self.ended or max([self.start.time, *times, *beats, *parts])

    @property
    def seconds(self) -> float:
        return seconds_between(self.start.time, self.last_seen)

    @property
    def critical_path(self) -> tuple[str, ...]:
        """The chain of modules that took longest, among those whose turn came."""
        took = {module.module: module.seconds for module in self.modules if module.seconds}
        return critical_path({module.module: module.needs for module in self.modules if module.module in took}, took)


def read_report(ledger: Ledger, run: str | None) -> Report:
    """Report on a run, by its id or the beginning of it; without one on the newest. Raise UsageError, LedgerDamaged."""
    newest = ledger.runs(1)
    if not newest and ledger.damage:
        raise ledger.damage[0].error
    if not newest:
        raise UsageError("nothing was run yet", hint="hybridwrap apply")
    found = ledger.run(run or newest[0].start.run) if run or newest[0].start.shared else newest[0]
    heads = ledger.records(found.start.modules)
    shares = _shares(ledger, found.start, heads)
    saved = ledger.saved.find(found.start.run) if found.start.command == "plan" else None
    pending = pending_of((found,), {name: share.record for name, share in shares.items()})
    return Report(
        stack=ledger.stack,
        environment=ledger.environment,
        start=found.start,
        modules=tuple(
            ModuleReport(
                module=name,
                needs=tuple(found.start.edges.get(name, ())),
                end=_end(found, name, share, pending.get(name)),
                share=share,
                planned=saved.modules[name].planned if saved and name in saved.modules else share.planned,
                beat=_beat(ledger, share.record),
                since=_since(found.start.run, heads.get(name)),
            )
            for name, share in shares.items()
        ),
        ended=found.end.time if found.end else "",
        exit_code=found.end.exit_code if found.end else None,
        parts=found.parts,
        hooks=tuple(hook for run in (found, *found.parts) if run.end for hook in run.end.hooks),
    )


def _shares(ledger: Ledger, start: RunStart, heads: Mapping[str, Record]) -> dict[str, Share]:
    """Read the logs of those modules that were acted on since the run began; the heads of the others say it all."""
    acted = [name for name in start.modules if name in heads and heads[name].run >= start.run]
    with ThreadPoolExecutor(READ_AT_ONCE) as pool:
        found = pool.map(lambda name: _share(ledger, start.run, heads[name]), acted)
        shares = dict(zip(acted, found, strict=True))
    return {name: shares.get(name) or Share(heads.get(name, Record(name))) for name in start.modules}


def _share(ledger: Ledger, run: str, head: Record) -> Share:
    """A module's share; of one whose log can't be read what its head says, if that has not told of the damage yet."""
    try:
        return share_of(run, head.module, ledger.history(head.module))
    except LedgerDamaged as error:
        return Share(head if head.damage else ledger.broken_off(head, error))


def _end(run: Run, name: str, share: Share, pending: PendingModule | None) -> ModuleEnd:
    """As the run's end has it; as the log has it where that is missing, or the log was told later."""
    said = run.ends.get(name)
    if said is None or (said.result in TOLD_LATER and share.end):
        return end_by_log(share, pending)
    return said


def _beat(ledger: Ledger, record: Record) -> Beat | None:
    beats = ledger.beats(record.module) if record.holder else ()
    return next((beat for beat in beats if record.holder and beat.operation == record.holder.operation), None)


def _since(run: str, head: Record | None) -> Since | None:
    if head is None or head.run <= run:
        return None
    return Since(head.status, head.run, head.command, head.since)
