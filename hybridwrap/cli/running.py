"""What commands share that work on one module after another: the selection, who watches, signals, the last words."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.cli.aside import Aside
from hybridwrap.cli.compose import Workshop, equip, load
from hybridwrap.cli.fetched import sweep_fetched
from hybridwrap.cli.hints import place_of_call
from hybridwrap.cli.options import Place, Telling
from hybridwrap.cli.plain_lines import PlainLines
from hybridwrap.cli.scene import Scene
from hybridwrap.cli.shared import SharedRun
from hybridwrap.cli.signals import told_of_signals
from hybridwrap.cli.teller import Teller
from hybridwrap.cli.variables import Variables, with_variables
from hybridwrap.domain.pending import pending_of
from hybridwrap.domain.record import Record
from hybridwrap.domain.status import Status
from hybridwrap.run.context import Context, Options
from hybridwrap.run.knowledge import Knowledge
from hybridwrap.run.left_behind import finish_left_behind
from hybridwrap.run.owned import finish_owned
from hybridwrap.run.recorded import RUNS_LOOKED_AT
from hybridwrap.run.selection import Selection, refuse_unknown, select
from hybridwrap.run.stop import Stop

TO_PEOPLE = Telling()


class Job(Struct, frozen=True):
    """The modules that a command is about, and what is known of them."""

    workshop: Workshop
    modules: tuple[str, ...]
    knowledge: Knowledge
    parallelism: int = 1


def writing_job(place: Place, selection: Selection, variables: Variables, *, parallelism: int) -> Job:
    """Get ready to change things. Raise LedgerUnreachable, UsageError."""
    workshop = equip(load(place, given=variables.names), parallelism=parallelism)
    return job_in(workshop, selection, variables, parallelism)


def job_in(workshop: Workshop, selection: Selection, variables: Variables, parallelism: int) -> Job:
    """Open the ledger, finish what dead operations left on this host, or owners took along, and select."""
    workshop.ledger.open()
    context = aside(workshop, Options())
    finish_left_behind(context)
    finish_owned(context)
    sweep_fetched(workshop, context)
    return _job(workshop, selection, variables, parallelism, context.knowledge)


def reading_job(place: Place, selection: Selection, variables: Variables, *, parallelism: int) -> Job:
    """Get ready to look only; the ledger may not exist."""
    workshop = equip(load(place, given=variables.names), parallelism=parallelism)
    knowledge = Knowledge(workshop.ledger.records(workshop.stack.modules))
    return _job(workshop, selection, variables, parallelism, knowledge)


def _job(workshop: Workshop, selection: Selection, variables: Variables, parallelism: int, knowledge: Knowledge) -> Job:
    modules = selected(workshop, selection, knowledge.records)
    tools = replace(workshop.tools, stack=with_variables(workshop.stack, modules, variables))
    return Job(replace(workshop, tools=tools), modules, knowledge, parallelism)


def aside(workshop: Workshop, options: Options, records: Mapping[str, Record] | None = None) -> Context:
    """Be at work on no run: what is said goes to stderr, and a signal ends it at any point without harm."""
    tools = workshop.tools
    stop = Stop(tools.clock, tools.engines.interrupt)
    knowledge = Knowledge(workshop.ledger.records(workshop.stack.modules) if records is None else records)
    return Context(
        tools.ids.new(), argv_as_typed(sys.argv[1:]), tools, options, Aside(place_of_call()), stop, knowledge
    )


def selected(workshop: Workshop, selection: Selection, records: Mapping[str, Record] | None = None) -> tuple[str, ...]:
    """Name the selected modules, and say what a comparison found; the ledger is asked only when it is needed."""
    if selection.changed is None and not selection.unapplied:
        return select_by_status(workshop, selection, records)
    from hybridwrap.cli.narrowing import narrowed, tell

    found = narrowed(workshop, selection, records)
    modules = select_by_status(workshop, found.selection, records)
    tell(found, modules, len(workshop.stack.modules))
    return modules


def select_by_status(
    workshop: Workshop, selection: Selection, records: Mapping[str, Record] | None = None
) -> tuple[str, ...]:
    """Name the modules of a selection whose comparisons are made."""
    if not selection.statuses:
        return select(workshop.stack, selection, lambda _: Status.NONE)
    known = workshop.ledger.records(workshop.stack.modules) if records is None else records
    pending = pending_of(workshop.ledger.runs(RUNS_LOOKED_AT), known)

    def status_of(name: str) -> Status:
        stored = known[name].status if name in known else Status.NONE
        return Status.PENDING if name in pending else stored

    return select(workshop.stack, selection, status_of)


def watcher(job: Job, telling: Telling = TO_PEOPLE) -> Teller:
    """Choose who tells of the run."""
    if telling.as_json:
        from hybridwrap.cli.json_lines import JsonLines

        return JsonLines(job.workshop.tools.clock, place_of_call())
    if telling.at_a_terminal:
        from hybridwrap.cli.live_run import LiveRun

        return LiveRun(_scene(job), telling.verbosity)
    return PlainLines(_scene(job), telling.verbosity)


def _scene(job: Job) -> Scene:
    stack, ledger = job.workshop.stack, job.workshop.ledger

    def log_of(module: str, operation: str) -> str:
        record = job.knowledge.record(module)
        return record.log if record.operation == operation else ""

    return Scene(
        clock=job.workshop.tools.clock,
        root=stack.root,
        declared=stack.modules,
        modules=job.modules,
        parallelism=job.parallelism,
        log_of=log_of,
        earlier=lambda: ledger.runs(RUNS_LOOKED_AT),
        said=place_of_call(),
    )


@contextmanager
def at_work(job: Job, options: Options, watch: Teller, shared: SharedRun | None = None) -> Iterator[Context]:
    """Be a run, or a part of a shared one: until it is over, signals reach the engines gracefully."""
    tools = job.workshop.tools
    if shared:  # a name that is wrong would be waited for by nobody
        refuse_unknown(tools.stack, (name for name in shared.sharing.among if name not in job.modules))
    run = tools.ledger.shared_runs.named(shared.command, shared.name) if shared else tools.ids.new()
    part = shared.part(tools.ids.new()) if shared else None
    stop = Stop(tools.clock, tools.engines.interrupt, options.timeout_seconds)
    tools.engines.end_by(stop.deadline)
    with watch.at_work(), told_of_signals(lambda name: watch.note(stop.signalled(name))):
        yield Context(run, argv_as_typed(sys.argv[1:]), tools, options, watch, stop, job.knowledge, part)
    for warning in tools.engines.warnings():
        watch.note(f"note: {warning}")


def argv_as_typed(words: list[str]) -> tuple[str, ...]:
    """A command line without the values of -var, which may be secrets."""
    shown: list[str] = []
    for word in words:
        option, glued, setting = word.partition("=")
        if shown and shown[-1] in ("-var", "--var"):
            shown.append(f"{option}=…")
        elif glued and option in ("-var", "--var"):
            shown.append(f"{option}={setting.partition('=')[0]}=…")
        else:
            shown.append(word)
    return tuple(shown)
