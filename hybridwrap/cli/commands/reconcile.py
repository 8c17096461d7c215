"""`hybridwrap reconcile`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from hybridwrap.adapters.manifest.remote import Fetching
from hybridwrap.cli.aside import Aside
from hybridwrap.cli.completing import offer_modules
from hybridwrap.cli.compose import Workshop, equip, look_closely
from hybridwrap.cli.damage import damage_of, refuse_damage
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.lines import coloured
from hybridwrap.cli.options import Place, json_option, parallelism_option, reading_options
from hybridwrap.cli.running import aside, at_work
from hybridwrap.cli.teardown import repair_job
from hybridwrap.cli.wishes import wish_options
from hybridwrap.cli.wrapping import say
from hybridwrap.domain.families import did_you_mean
from hybridwrap.domain.graph import order
from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.verdict_evidence import evidence
from hybridwrap.errors import UsageError
from hybridwrap.run.context import Context, Options
from hybridwrap.run.reconcile import Reconciled, Wishes, look_at_all, put_right, unclean


@click.command("reconcile")
@reading_options
@click.argument("modules", nargs=-1, shell_complete=offer_modules)
@wish_options
@parallelism_option
@json_option
def command(place: Place, modules: tuple[str, ...], wishes: Wishes, parallelism: int, as_json: bool) -> int:
    """Say what became of modules, how that is known, and what to type next.

    Without names: those that failed, whose outcome is unknown, or that were changed outside. Each is looked at: record,
    state, lock, and a plan that locks nothing. Nothing is changed unless an option asks for it; what is certain after
    that is recorded, too.
    """
    if wishes and place.ledger:
        raise UsageError("nothing is put right without the manifest: go to a checkout of the stack")
    code = _put_right(place, modules, wishes, parallelism) if wishes else 0
    stack, _ = look_closely(place, Fetching.MISSING)
    workshop = equip(stack, parallelism=parallelism)
    context = aside(workshop, Options(parallelism=parallelism))
    found = look_at_all(context, _chosen(workshop, context, modules))
    if as_json:
        click.echo(canonical({"version": 1, "modules": [_json(one, place) for one in found]}))
    elif not found:
        click.echo("every module is as the ledger says")
    for line in (line for one in found for line in _lines(one, place)) if not as_json else ():
        say(line)
    refuse_damage(damage_of(workshop.ledger.damage, {one.look.module for one in found}))
    return code


def _chosen(workshop: Workshop, context: Context, modules: Sequence[str]) -> tuple[str, ...]:
    """The named ones, else all that are not clean: those of the manifest in their order, then what only the ledger has.

    Raise UsageError.
    """
    declared = order({name: module.needs for name, module in workshop.stack.modules.items()})
    known = (*declared, *sorted(set(context.knowledge.records) - set(declared)))
    for name in modules:
        if name not in known:
            near = did_you_mean(name, known)
            raise UsageError(f"neither stack {workshop.stack.name} nor its ledger has a module {name}{near}")
    return tuple(modules) or unclean(context, known)


def _put_right(place: Place, modules: tuple[str, ...], wishes: Wishes, parallelism: int) -> int:
    job = repair_job(place, modules, parallelism=parallelism)
    with at_work(job, Options(parallelism=parallelism), Aside(place)) as context:
        end = put_right(context, modules or unclean(context, job.modules), wishes)
    for name, module_end in end.modules.items():
        for line in _told(name, module_end, place):
            say(line, err=True)
    return end.exit_code


def _told(name: str, end: ModuleEnd, place: Place) -> Iterator[str]:
    yield f"{name}: {as_typed(end.reason.removeprefix(f'{name}: '), place)}"
    yield from (f"  {error.address}: {error.summary}: {error.detail}" for error in end.errors)
    if end.hint:
        yield f"  next: {as_typed(end.hint, place)}"


def _json(one: Reconciled, place: Place) -> Json:
    return {
        "module": one.look.module,
        "status": str(one.look.record.status),
        "verdict": str(one.judgement.verdict),
        "evidence": [as_typed(sentence, place) for sentence in evidence(one.look)],
        "next": as_typed(one.judgement.next, place),
    }


def _lines(one: Reconciled, place: Place) -> Iterator[str]:
    verdict = one.judgement.verdict.in_words
    yield f"{click.style(one.look.module, bold=True)} is {coloured(one.look.record.status)}: {verdict}"
    for sentence in evidence(one.look):
        yield f"  {as_typed(sentence, place)}"
    yield f"  next: {as_typed(one.judgement.next, place)}"
