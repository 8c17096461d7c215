"""What a teardown works with: it goes on where a source is gone or does not fit any more, and can take up orphans."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import click
from msgspec.structs import replace

from hybridwrap.adapters.manifest.remote import Fetching
from hybridwrap.cli.compose import Workshop, equip, look_closely
from hybridwrap.cli.options import Command, Place, fit_for_plan, variable_options, words_after_dashes
from hybridwrap.cli.running import Job, aside, selected
from hybridwrap.cli.shared import SharedRun, selection_of
from hybridwrap.cli.variables import Variables, with_variables
from hybridwrap.domain.ports import PlanOptions
from hybridwrap.domain.record import Record
from hybridwrap.errors import UsageError
from hybridwrap.run.context import Options
from hybridwrap.run.knowledge import Knowledge
from hybridwrap.run.left_behind import finish_left_behind
from hybridwrap.run.orphans import orphans_of, with_orphans
from hybridwrap.run.owned import finish_owned
from hybridwrap.run.rename import refuse_moved
from hybridwrap.run.selection import Selection


def teardown_job(
    place: Place,
    selection: Selection,
    orphans: Sequence[str],
    variables: Variables,
    *,
    parallelism: int = 1,
    shared: SharedRun | None = None,
) -> Job:
    """Get ready to change things that may be declared no more. Raise LedgerUnreachable, UsageError."""
    if orphans and selection.names:
        raise UsageError("name modules, or orphans with --orphan; not both")
    return _job_in(_workshop(place, parallelism), selection, orphans, variables, parallelism, shared)


def repair_job(place: Place, modules: Sequence[str], *, parallelism: int = 1) -> Job:
    """Get ready to put modules right, whether the manifest still has them or not. Raise as `teardown_job` does."""
    workshop = _workshop(place, parallelism)
    orphans = [name for name in modules if name not in workshop.stack.modules]
    declared = Selection(tuple(name for name in modules if name not in orphans), families=False)
    return _job_in(workshop, declared, orphans, Variables(), parallelism)


def with_undeclared(workshop: Workshop, modules: Sequence[str]) -> Workshop:
    """Declare again those of the modules that the manifest has no more, to look at them. Raise UsageError."""
    return _with_orphans(workshop, [name for name in modules if name not in workshop.stack.modules])


def _job_in(
    workshop: Workshop,
    selection: Selection,
    orphans: Sequence[str],
    variables: Variables,
    parallelism: int,
    shared: SharedRun | None = None,
) -> Job:
    workshop.ledger.open()
    workshop = _with_orphans(workshop, orphans)
    context = aside(workshop, Options())
    finish_left_behind(context)
    finish_owned(context)
    selection = selection_of(shared, workshop.ledger, selection)
    modules = tuple(dict.fromkeys(orphans))
    if selection.names or not modules:
        modules = (*_chosen(workshop, selection, context.knowledge.records), *modules)
    return _job(workshop, modules, variables, context.knowledge, parallelism)


def reading_teardown_job(place: Place, selection: Selection, variables: Variables, *, parallelism: int) -> Job:
    """Get ready to look only."""
    workshop = _workshop(place, parallelism)
    knowledge = Knowledge(workshop.ledger.records(workshop.stack.modules))
    modules = _chosen(workshop, selection, knowledge.records)
    return _job(workshop, modules, variables, knowledge, parallelism)


def _workshop(place: Place, parallelism: int) -> Workshop:
    stack, problems = look_closely(place, Fetching.MISSING)
    for problem in problems:
        click.echo(f"note: {problem}", err=True)
    return equip(stack, parallelism=parallelism)


def _job(
    workshop: Workshop, modules: tuple[str, ...], variables: Variables, knowledge: Knowledge, parallelism: int
) -> Job:
    tools = replace(workshop.tools, stack=with_variables(workshop.stack, modules, variables))
    return Job(replace(workshop, tools=tools), modules, knowledge, parallelism)


def _with_orphans(workshop: Workshop, orphans: Sequence[str]) -> Workshop:
    if not orphans:
        return workshop
    records = workshop.ledger.records(workshop.stack.modules)
    refuse_moved(workshop.tools, records, orphans)
    stack = with_orphans(workshop.stack, records, orphans)
    return replace(workshop, tools=replace(workshop.tools, stack=stack))


def _chosen(workshop: Workshop, selection: Selection, records: Mapping[str, Record]) -> tuple[str, ...]:
    known = {orphan.module for orphan in orphans_of(workshop.stack, records)}
    for name in selection.names:
        if name in known:
            raise UsageError(f"{name} is not in the manifest any more", hint=f"hybridwrap destroy --orphan {name}")
    return selected(workshop, selection, records)


def teardown_plan_options(command: Command) -> Command:
    """Add those of the engine's options that fit a plan to destroy; the command gets `plan` and `variables`."""

    @click.option(
        "-refresh", "--refresh", type=bool, default=True, help="As the engine's -refresh=false: do not look first."
    )
    @variable_options
    @click.option("-lock-timeout", "--lock-timeout", default="", metavar="DURATION", help="As the engine's.")
    @functools.wraps(command)
    def with_plan(refresh: bool, lock_timeout: str, **rest: Any) -> Any:
        extra = fit_for_plan(words_after_dashes())
        plan = PlanOptions(destroy=True, refresh=refresh, lock_timeout=lock_timeout, extra=extra)
        return command(plan=plan, **rest)

    return with_plan
