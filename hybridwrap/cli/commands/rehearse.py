"""`hybridwrap rehearse`."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import click

from hybridwrap.adapters.home import make_home
from hybridwrap.adapters.rehearsal.writing import REHEARSALS, write_copy
from hybridwrap.cli.completing import offer_modules
from hybridwrap.cli.compose import Workshop, equip, ledger_of_copy, look_at
from hybridwrap.cli.options import Place, json_option, parallelism_option, stack_options
from hybridwrap.cli.rehearsal_stage import ShownStage
from hybridwrap.cli.rehearsal_view import left_lines, opening_lines, scorecard_json, scorecard_lines, shown
from hybridwrap.cli.wrapping import say
from hybridwrap.domain.json import canonical
from hybridwrap.domain.rehearsal import read_failure, refuse_impossible, telling_failures
from hybridwrap.domain.scorecard import Check, scorecard
from hybridwrap.domain.stack import Stack
from hybridwrap.domain.stand_ins import StandIn, stand_ins
from hybridwrap.domain.status import Status
from hybridwrap.errors import EngineFailed, LedgerUnreachable, PreflightRefused, Stopped, UsageError
from hybridwrap.run.rehearse import Drill, facts, play
from hybridwrap.run.selection import Selection, select

WHERE = "MODULE[:apply|:destroy]"


@click.command("rehearse")
@stack_options
@click.argument("modules", nargs=-1, shell_complete=offer_modules)
@click.option("--fail", "fails", multiple=True, metavar=WHERE, help="A module that fails half-way, else in apply.")
@click.option("--kill", "kills", multiple=True, metavar=WHERE, help="In its middle hybridwrap and engine are killed.")
@click.option("--practise", is_flag=True, help="Stop at the first failure, and leave the copy to you.")
@click.option("--folder", type=click.Path(path_type=Path), help="Where the copy is made and kept: a new or empty one.")
@parallelism_option
@json_option
def command(
    place: Place,
    modules: tuple[str, ...],
    fails: tuple[str, ...],
    kills: tuple[str, ...],
    practise: bool,
    folder: Path | None,
    parallelism: int,
    as_json: bool,
) -> int:
    """Play a failure drill on a copy of the stack, and see that the rules hold.

    The copy has the stack's graph, and stand-ins for its modules: the same variables and outputs, no provider, no
    credential, no network. Something fails there, is looked at, repaired, gone on with and torn down, by commands that
    are shown and really run. At the end each of the five rules is looked for in the copy's ledger: exit code 4 when one
    does not hold. Without --fail and --kill a module with many others behind it fails, up and down. The stack itself,
    its ledger and its states are only read. The copy is removed, unless it was to be kept or something does not hold.
    """
    if practise and as_json:
        raise UsageError("--json prints the scorecard of a drill that was played to its end: not with --practise")
    workshop = equip(look_at(place))
    drill = _drill(workshop.stack, modules, (fails, kills), parallelism)
    if not drill.modules:
        say("nothing to rehearse: the stack has no modules", err=as_json)
        return 0
    made, read = _stand_ins(workshop, drill)
    copy = _new_folder(workshop, folder)
    write_copy(copy, workshop.stack, made, drill.failures)
    for line in opening_lines(workshop.stack, made, drill, copy, chosen=bool(fails or kills), read=read):
        say(line, err=as_json)
    stage = ShownStage(copy, ledger_of_copy(workshop.stack, copy), err=as_json)
    keep = folder is not None
    checks = _played(stage, drill, copy, practise=practise, keep=keep)
    return _conclude(workshop.stack, drill, checks, copy, keep=keep, as_json=as_json) if checks else 0


def _drill(stack: Stack, modules: tuple[str, ...], said: tuple[tuple[str, ...], ...], parallelism: int) -> Drill:
    """Choose modules with all that they need, and what fails; `said` are --fail and --kill. Raise UsageError."""
    selection = Selection(modules, with_dependencies=True, folder=Path.cwd())
    chosen = {name: stack.modules[name] for name in select(stack, selection, lambda _: Status.NONE)}
    wanted = [read_failure(text, kill=kill) for kill, texts in zip((False, True), said, strict=True) for text in texts]
    failures = tuple(wanted) or telling_failures(chosen)
    refuse_impossible(chosen, failures)
    return Drill(chosen, failures, parallelism)


def _stand_ins(workshop: Workshop, drill: Drill) -> tuple[Mapping[str, StandIn], bool]:
    """Make the stand-ins, and say whether the ledger could be read for it: a drill needs no credentials."""
    names, records, read = tuple(drill.modules), {}, True
    try:
        records = workshop.ledger.records(names)
    except LedgerUnreachable:
        read = False
    return stand_ins(workshop.stack, names, records, workshop.tools.host.render), read


def _new_folder(workshop: Workshop, folder: Path | None) -> Path:
    """Raise PreflightRefused."""
    if folder:
        return folder.expanduser().absolute()
    make_home(workshop.home, workshop.stack.name)
    return workshop.home / REHEARSALS / workshop.tools.ids.new()


def _played(stage: ShownStage, drill: Drill, copy: Path, *, practise: bool, keep: bool) -> tuple[Check, ...]:
    """Play it, and look for the rules, unless it is left to somebody. Raise Stopped, PreflightRefused."""
    try:
        played = play(stage, drill, practise=practise)
    except KeyboardInterrupt:
        raise Stopped(f"the drill was stopped; its copy is left in {shown(copy)}", hint=f"rm -r {copy}") from None
    except PreflightRefused:
        if not keep:
            shutil.rmtree(copy)
        raise
    if not played.stopped:
        return scorecard(facts(stage, drill, played))
    for line in left_lines(copy, drill.failures):
        say(line)
    return ()


def _conclude(stack: Stack, drill: Drill, checks: tuple[Check, ...], copy: Path, *, keep: bool, as_json: bool) -> int:
    """Tell the scorecard, and remove a copy in which nothing went wrong."""
    holds = all(check.holds for check in checks)
    kept = copy if keep or not holds else None
    if kept is None:
        shutil.rmtree(copy)
    if as_json:
        click.echo(canonical(scorecard_json(stack, drill, checks, kept)))
    for line in scorecard_lines(stack, checks, kept) if not as_json else ():
        say(line)
    return 0 if holds else EngineFailed.exit_code
