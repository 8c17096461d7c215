"""Why a module stands as it does: from step to step up to the first cause, by what the ledger says and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from hybridwrap.domain.engine_run import Diagnostic, telling
from hybridwrap.domain.failure_kinds import taken_in, there_already
from hybridwrap.domain.outputs import Provenance
from hybridwrap.domain.pending import pending_of
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd, PendingModule, Run
from hybridwrap.domain.stack import Stack
from hybridwrap.domain.status import Status
from hybridwrap.run.resume import newest_unfinished
from hybridwrap.run.standing import standings

NEXT = {
    Status.UNKNOWN: "hybridwrap reconcile {}",
    Status.RETAINED: "hybridwrap adopt {}",
    Status.RUNNING: "hybridwrap status",
}


class Step(Struct, frozen=True):
    """One module on the way to the cause; the next step is what it waits for."""

    module: str
    status: Status
    was: Status | None = None  # the stored status of a pending one
    reason: str = ""
    waits_for: str = ""  # a module, or an output of it
    command: str = ""
    run: str = ""
    operation: str = ""
    time: str = ""
    by: str = ""
    errors: tuple[Diagnostic, ...] = ()
    open: tuple[str, ...] = ()  # addresses of objects of which nobody knows how they ended
    log: str = ""  # on the host in `by`
    hint: str = ""


class Why(Struct, frozen=True):
    steps: tuple[Step, ...]
    next: str  # one command line, "" when there is nothing to do
    repair_first: bool  # the command is of use only once the cause is repaired


class _Story(Struct, frozen=True):
    stack: Stack
    records: Mapping[str, Record]
    runs: Sequence[Run]
    pending: Mapping[str, PendingModule]

    def record(self, module: str) -> Record:
        return self.records.get(module, Record(module))


def why(stack: Stack, records: Mapping[str, Record], runs: Sequence[Run], module: str) -> Why:
    """Follow a module to the first cause; `runs` newest first."""
    story = _Story(stack, records, runs, pending_of(runs, records))
    steps = tuple(_steps(story, module))
    return Why(steps, _next(story, steps), _has_to_be_repaired(steps[-1]))


def _has_to_be_repaired(cause: Step) -> bool:
    return cause.status is Status.ERROR and not cause.open and not there_already(cause.errors)


def _steps(story: _Story, module: str) -> Iterator[Step]:
    seen: set[str] = set()
    while module and module not in seen:
        seen.add(module)
        step = _step(story, module)
        yield step
        module = _module_in(story, step.waits_for)


def _step(story: _Story, module: str) -> Step:
    if "/" in module:
        return _elsewhere(story.record(module), module)
    record, waits = story.record(module), story.pending.get(module)
    if waits and record.status is not Status.RUNNING:
        return _pending(story, record, waits)
    (standing,) = standings(story.stack, {module: record}, {}, [module])
    missing = _missing_output(story, record)
    return Step(
        module,
        record.status,
        reason=f"{standing.reason}; {missing} is not there" if missing else standing.reason,
        waits_for=missing,
        command=record.command,
        run=_run_of(story, record),
        operation=record.operation,
        time=record.since,
        by=record.by,
        errors=telling(record.errors),
        open=tuple(thing.address for thing in record.objects if thing.open),
        log=record.log,
        hint=record.damage.hint if record.damage else "",
    )


def _run_of(story: _Story, record: Record) -> str:
    """The run that has done it: one that only looked since then has left its own name in the record."""
    done = [
        run.start.run
        for run in story.runs
        if run.start.command == record.command and run.start.time <= record.since and record.module in run.start.modules
    ]
    return record.run if record.run in done or not done else done[0]


def _elsewhere(record: Record, module: str) -> Step:
    """A module of another stack: where the way ends, for this one."""
    return Step(
        module,
        record.status,
        reason=record.reason,
        command=record.command,
        run=record.run,
        operation=record.operation,
        time=record.since,
        by=record.by,
        errors=telling(record.errors),
        log=record.log,
    )


def _pending(story: _Story, record: Record, waits: PendingModule) -> Step:
    run = next((run for run in story.runs if run.start.run == waits.run), None)
    end = run.ends.get(record.module) if run else None
    end = end or ModuleEnd("pending")
    return Step(
        record.module,
        Status.PENDING,
        record.status,
        waits.reason,
        waits.waits_for,
        command=run.start.command if run else "",
        run=waits.run,
        time=(run.end.time if run.end else run.start.time) if run else "",
        by=str(run.start.writer) if run else "",
        errors=end.errors,
        hint=end.hint,
    )


def _missing_output(story: _Story, record: Record) -> str:
    """The output of another module that an error speaks of and that is not known, "" when there is none.

    A module may read another one's state by itself; that the other one failed is then not in the error.
    """
    declared = story.stack.modules.get(record.module)
    if record.status is not Status.ERROR or declared is None:
        return ""
    text = "\n".join(f"{error.summary}\n{error.detail}" for error in record.errors)
    for needed in declared.needs:
        for name, output in story.record(needed).outputs.items():
            if output.provenance is not Provenance.KNOWN and f'"{name}"' in text:
                return f"{needed}.{name}"
    return ""


def _module_in(story: _Story, waits_for: str) -> str:
    known = {*story.stack.modules, *story.records}
    return waits_for if waits_for in known else waits_for.rpartition(".")[0]


def _next(story: _Story, steps: Sequence[Step]) -> str:
    """The one command that helps: by the first cause; else by the run that has to be gone on with."""
    if command := _next_for(steps[-1]):
        return command
    newest = newest_unfinished(story.runs, story.records, story.stack)
    run = next((step.run for step in steps if step.status is Status.PENDING), "")
    if newest and (newest.run_id == run or steps[0].module in newest.left):
        return "hybridwrap resume"
    if run:
        return f"hybridwrap resume {run}"
    return "" if steps[0].status is Status.OK else f"hybridwrap apply {steps[0].module}"


def _next_for(cause: Step) -> str:
    if "/" in cause.module:  # it is repaired where it belongs
        return ""
    if cause.hint or cause.status is Status.PENDING:
        return cause.hint
    if cause.status is Status.ERROR and not cause.open:
        is_destroy = cause.command == "destroy"
        return f"hybridwrap destroy {cause.module}" if is_destroy else taken_in(cause.module, cause.errors)
    status = Status.UNKNOWN if cause.open else cause.status
    return NEXT.get(status, "").format(cause.module)
