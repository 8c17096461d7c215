"""A run's document before anything else, and its end after all of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from hybridwrap.domain.charter import stamp
from hybridwrap.domain.hooks import AFTER, BEFORE
from hybridwrap.domain.pending import MAKES_PENDING, TEARS_DOWN, pending_of
from hybridwrap.domain.run import ModuleEnd, PendingModule, RunEnd, RunStart
from hybridwrap.errors import LedgerUnreachable, Stopped, gravest
from hybridwrap.run.context import Context
from hybridwrap.run.deadline import late_code
from hybridwrap.run.ends import tell
from hybridwrap.run.expiry import warn_of_ending_keys
from hybridwrap.run.hooks import around_run, codes_of
from hybridwrap.run.kept_inputs import keep_inputs

RUNS_LOOKED_AT = 20
HOOKED = frozenset({*MAKES_PENDING, TEARS_DOWN})


def recorded_run(
    context: Context,
    command: str,
    modules: Sequence[str],
    work: Callable[[], Mapping[str, ModuleEnd]],
    edges: Mapping[str, Sequence[str]] | None = None,
) -> RunEnd:
    """Do the work of a run between its two documents. Raise LedgerUnreachable before it.

    `edges` says what comes before each module; none said: what it needs. A run without modules is not recorded.
    """
    if not modules:
        return end_of_run(context, {})
    start = _start(context, command, modules)
    if edges is not None:
        start = replace(start, edges={name: tuple(edges.get(name, ())) for name in modules})
    _begin(context, start)
    context.watch.run_began(start)
    if command in HOOKED:
        warn_of_ending_keys(context, start)
    end = _done(context, start, work) if command in HOOKED else end_of_run(context, work())
    try:
        return _end(context, end)
    except LedgerUnreachable as error:
        context.watch.note(f"the end of run {context.run} could not be recorded: {error.message}")
        return replace(end, exit_code=gravest([end.exit_code, error.exit_code]))


def _begin(context: Context, start: RunStart) -> None:
    if context.part:
        context.tools.ledger.shared_runs.start(start, joins=context.part.joins)
    else:
        context.tools.ledger.start_run(start)


def _end(context: Context, end: RunEnd) -> RunEnd:
    """Record the end; who takes whatever is ready answers for all who do so."""
    context.tools.ledger.pack_heads()
    if context.part is None:
        context.tools.ledger.end_run(end)
        return end
    runs = context.tools.ledger.shared_runs
    runs.end(context.part.id, end)
    codes = runs.codes(end.run) if context.part.joins else ()
    return replace(end, exit_code=gravest([end.exit_code, *codes]))


def _done(context: Context, start: RunStart, work: Callable[[], Mapping[str, ModuleEnd]]) -> RunEnd:
    """The work of a run between its own hooks; without a good end of the first ones there is none."""
    before = around_run(context, start.command, BEFORE) if start.modules else ()
    failed = next((run for run in before if run.failed), None)
    ends = _not_begun(context, start, f"the run was not begun: hook {failed}") if failed else work()
    end = end_of_run(context, ends)
    code = gravest([end.exit_code, *codes_of(before)])
    after = around_run(context, start.command, AFTER, code) if start.modules and not failed else ()
    return replace(end, exit_code=gravest([code, *codes_of(after)]), hooks=(*before, *after))


def _not_begun(context: Context, start: RunStart, reason: str) -> Mapping[str, ModuleEnd]:
    if context.part and context.part.joins:
        context.watch.note(reason)
        return {}  # what this process does not take, others do
    result = "pending" if start.command in MAKES_PENDING else "kept"
    ends = {name: ModuleEnd(result, reason=reason) for name in start.modules}
    for name, end in ends.items():
        tell(context, name, end)
    return ends


def end_of_run(context: Context, ends: Mapping[str, ModuleEnd]) -> RunEnd:
    """Sum up: the gravest of all endings is the run's."""
    codes = [end.exit_code for end in ends.values()]
    if context.stop.signals:
        codes.append(Stopped(context.stop.reason, terminated=context.stop.terminated).exit_code)
    codes.append(late_code(context.stop, ends.values()))
    return RunEnd(context.run, stamp(context.tools.clock.now()), gravest(codes), ends)


def _start(context: Context, command: str, modules: Sequence[str]) -> RunStart:
    declared = context.tools.stack.modules
    left = {} if _goes_on(context) else _left(context)
    taken_up = modules if command in MAKES_PENDING else ()  # others leave it pending, unless they act on it
    return RunStart(
        run=context.run,
        command=command,
        time=stamp(context.tools.clock.now()),
        writer=context.tools.ledger.writer,
        argv=context.argv,
        modules=tuple(modules),
        edges={name: declared[name].needs for name in modules},
        carried={name: pending for name, pending in left.items() if name not in taken_up and name in declared},
        inputs=keep_inputs(context, modules) if command in MAKES_PENDING else "",
        whole=context.options.plan.whole,
        shared=context.part.name if context.part else "",
        part=context.part.id if context.part else "",
        saved=context.options.saved,
    )


def _left(context: Context) -> Mapping[str, PendingModule]:
    """What earlier runs left pending; of one that can't be read nobody knows, which is said."""
    ledger = context.tools.ledger
    runs = ledger.runs(RUNS_LOOKED_AT)
    for damage in (damage for damage in ledger.damage if not damage.module):
        context.watch.note(f"{damage.error.message}; what that run left pending is not known")
    return pending_of(runs, context.knowledge.records)


def _goes_on(context: Context) -> bool:
    """Whether another process has begun this run, and has said what earlier ones left."""
    return context.part is not None and context.tools.ledger.shared_runs.document(context.run) is not None
