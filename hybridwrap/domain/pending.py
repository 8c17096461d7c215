"""Which modules a run left behind: derived from runs and records, never stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd, PendingModule, Run
from hybridwrap.domain.status import Status

MAKES_PENDING = frozenset({"apply", "resume"})
TEARS_DOWN = "destroy"
RENAMES = "mv"
BUSY = "busy"
DONE = frozenset({"ok", "unchanged"})


def pending_of(runs: Sequence[Run], records: Mapping[str, Record]) -> dict[str, PendingModule]:
    """Modules that the newest apply or resume run which selected them did not do; `runs` newest first.

    What a run carried forward from earlier ones counts where no run in `runs` selected the module itself. A teardown
    makes nothing pending, and what it selects is no longer wanted; a rename gives a module the record that it lacked.
    """
    found: dict[str, PendingModule | None] = {}
    for run in runs:
        for module, pending in _said_by(run, records):
            found.setdefault(module, pending)
    for run in runs:
        for module, pending in run.start.carried.items():
            record = records.get(module)
            done = _acted_since(record, pending.run) or _settled_after(record, run.start.time)
            found.setdefault(module, None if done else pending)
    return {module: pending for module, pending in sorted(found.items()) if pending and not _doubtful(records, module)}


def _said_by(run: Run, records: Mapping[str, Record]) -> Iterable[tuple[str, PendingModule | None]]:
    if run.start.command in {*MAKES_PENDING, TEARS_DOWN}:
        return ((module, _left_by(run, module, records)) for module in run.start.modules)
    if run.start.command == RENAMES and run.end:
        return ((module, None) for module, end in run.end.modules.items() if end.result in DONE)
    return ()


def _doubtful(records: Mapping[str, Record], module: str) -> bool:
    """Whether it waits for nothing but a look at what happened to it: that must not be hidden."""
    return module in records and records[module].status is Status.UNKNOWN


def _left_by(run: Run, module: str, records: Mapping[str, Record]) -> PendingModule | None:
    if run.start.command == TEARS_DOWN or _acted_since(records.get(module), run.start.run):
        return None
    end = run.ends.get(module)
    if end is None and run.end is None:
        return _not_reached(run, module, records)
    end = end or ModuleEnd("pending", reason="the run ended before it")
    at_turn = run.end is None or end.result == BUSY
    refused = (at_turn and end.began) or (run.end.time if run.end else run.start.time)
    done = end.result in DONE or _settled_after(records.get(module), refused)
    return None if done else PendingModule(end.reason or end.result, end.waits_for, run.start.run)


def _not_reached(run: Run, module: str, records: Mapping[str, Record]) -> PendingModule:
    """A run without an end is still at work, or was killed: its documents do not tell which."""
    waits_for = next(iter(_undone(run.start.edges.get(module, ()), run, records)), "")
    reason = f"waits for {waits_for}" if waits_for else f"{run.start.command} {run.start.run} has not reached it"
    return PendingModule(reason, waits_for, run.start.run)


def _undone(needs: Iterable[str], run: Run, records: Mapping[str, Record]) -> Iterable[str]:
    selected = set(run.start.modules)
    for need in needs:
        if need in selected and (not _acted_since(records.get(need), run.start.run) or records[need].status != "ok"):
            yield need


def _acted_since(record: Record | None, run: str) -> bool:
    """Whether the last entry is of that run or a later one: ids of runs sort by the time of their making."""
    return record is not None and record.run >= run


def _settled_after(record: Record | None, time: str) -> bool:
    """Whether a run that is older, but was still at work on the module, came to an end of it only after a time."""
    return record is not None and record.holder is None and record.since > time
