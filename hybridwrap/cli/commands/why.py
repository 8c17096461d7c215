"""`hybridwrap why`."""

from __future__ import annotations

from collections.abc import Iterator

import click

from hybridwrap.cli.completing import offer_modules
from hybridwrap.cli.compose import Workshop, equip, look_at
from hybridwrap.cli.damage import damage_of, refuse_damage
from hybridwrap.cli.failures import told
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.lines import coloured, faint, local_moment
from hybridwrap.cli.options import Place, json_option, reading_options
from hybridwrap.cli.scene import place_of, shortened
from hybridwrap.cli.wrapping import say
from hybridwrap.domain.codec import plain
from hybridwrap.domain.engine_run import Diagnostic
from hybridwrap.domain.families import did_you_mean, instances, several
from hybridwrap.domain.json import canonical
from hybridwrap.domain.record import Record
from hybridwrap.domain.status import Status
from hybridwrap.errors import UsageError
from hybridwrap.run.recorded import RUNS_LOOKED_AT
from hybridwrap.run.why import Step, why


@click.command("why")
@reading_options
@click.argument("module", shell_complete=offer_modules)
@json_option
def command(place: Place, module: str, as_json: bool) -> int:
    """Say why a module is pending, in error or unknown.

    Follows what it waits for up to the first cause, with run, time, person, errors and log, and ends with the one
    command to type next. Only the ledger is read.
    """
    workshop = equip(look_at(place))
    records = workshop.ledger.records(workshop.stack.modules)
    _refuse_unknown(module, [*workshop.stack.modules, *records])
    records |= _elsewhere(workshop)
    found = why(workshop.stack, records, workshop.ledger.runs(RUNS_LOOKED_AT), module)
    following = as_typed(found.next, place)
    damage = damage_of(workshop.ledger.damage, {step.module for step in found.steps})
    if as_json:
        chain = [plain(step) for step in found.steps]
        click.echo(canonical({"version": 1, "module": module, "chain": chain, "next": following}))
        refuse_damage(damage)
        return 0
    width = max(len(step.module) for step in found.steps)
    for step in found.steps:
        headline = _headline(workshop, step)
        say(f"{step.module.ljust(width)}  {coloured(step.status, 9 if headline else 0)} {headline}".rstrip())
        for line in _below(workshop, step):
            say(" " * (width + 2) + line)
    say(f"next: {'once repaired: ' * found.repair_first}{following}" if found.next else "nothing to do")
    refuse_damage(damage)
    return 0


def _elsewhere(workshop: Workshop) -> dict[str, Record]:
    """How the modules of other stacks stand that this stack uses."""
    used = {other for module in workshop.stack.modules.values() for other in module.elsewhere}
    return {other: workshop.tools.others.record(other) for other in used}


def _refuse_unknown(module: str, known: list[str]) -> None:
    if found := instances(module, dict.fromkeys(known)):
        raise UsageError(several(module, found), hint="hybridwrap list")
    if module not in known:
        raise UsageError(f"there is no module {module}{did_you_mean(module, known)}", hint="hybridwrap list")


def _headline(workshop: Workshop, step: Step) -> str:
    if _is_the_error(step):
        return _error(workshop, step, step.errors[0])
    was = faint(f"  (was {step.was})") if step.was not in (None, Status.NONE) else ""
    return f"{step.reason.partition(chr(10))[0]}{was}"


def _is_the_error(step: Step) -> bool:
    """Whether the step is told best by its first error; what a teardown left says more."""
    return bool(step.errors) and step.status is Status.ERROR and step.command != "destroy"


def _below(workshop: Workshop, step: Step) -> Iterator[str]:
    for index, error in enumerate(step.errors):
        if index or not _is_the_error(step):
            yield _error(workshop, step, error)
        yield from (faint(f"  {line}") for line in error.detail.splitlines() if line.strip())
    if step.waits_for and step.status is Status.ERROR:
        yield f"{step.waits_for} is not there"
    if step.open:
        yield f"nobody knows how this ended: {', '.join(step.open)}"
    if step.run:
        yield faint(f"{step.command} {step.run}  {local_moment(step.time)}  by {step.by}")
    if step.log:
        yield faint(f"log: {shortened(step.log)} on {step.by.partition('@')[2]}")


def _error(workshop: Workshop, step: Step, error: Diagnostic) -> str:
    declared, root = workshop.stack.modules.get(step.module), workshop.stack.root
    return told(error, place_of(error, declared.source if declared else root, root))
