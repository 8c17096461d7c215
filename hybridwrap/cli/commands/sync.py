"""`hybridwrap sync`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click

from hybridwrap.cli.compose import Workshop, equip, load
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.options import Place, stack_options
from hybridwrap.cli.running import aside
from hybridwrap.counting import first_of
from hybridwrap.errors import LedgerUnreachable, ModuleBusy, OutputNotWritten, ResultNotSent, UsageError
from hybridwrap.run.context import Options, Patience
from hybridwrap.run.here import kept_results
from hybridwrap.run.spool import packed, send, unpacked
from hybridwrap.run.sync import Synced, sync

NAMED = 5  # operations that are named


@click.command("sync")
@stack_options
@click.option("--no-wait", is_flag=True, help="Leave engines alone that are still at work.")
@click.option(
    "--export",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Save results that the ledger can't be told, for a machine that goes. Written only if there are any.",
)
@click.option(
    "--from",
    "source",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Tell the ledger what --export has saved, on any machine.",
)
def command(place: Place, no_wait: bool, export: Path | None, source: Path | None) -> int:
    """Finish what killed runs left on this host.

    Results that the ledger does not have yet are sent, and an engine whose hybridwrap was killed is waited for. Each
    writing command does so for its own modules first. Harmless at any time, and as often as you like.
    """
    if export and source:
        raise UsageError("--export is for the machine that goes, --from for another one")
    workshop = equip(load(place))
    if source:
        return _sent(workshop, source)
    try:
        synced = _synced(workshop, no_wait=no_wait)
    except LedgerUnreachable as error:
        if not export:
            raise
        click.echo(error.message, err=True)
        synced = Synced()
    for line in _lines(synced, place):
        click.echo(line)
    if export and _exported(workshop, export):
        return ResultNotSent.exit_code
    if not synced.left:
        click.echo("nothing is left to finish on this host")
        return 0
    return ResultNotSent.exit_code if kept_results(workshop.tools) else ModuleBusy.exit_code


def _lines(synced: Synced, place: Place) -> Iterator[str]:
    if synced.removed:
        yield f"removed what dead operations had left of plans and inputs: {first_of(synced.removed, NAMED)}"
    for module, text in synced.left.items():
        yield f"{module}: {as_typed(text.removeprefix(f'{module}: '), place)}"


def _synced(workshop: Workshop, *, no_wait: bool) -> Synced:
    workshop.ledger.open()
    return sync(aside(workshop, Options(patience=Patience(for_engine=not no_wait))))


def _exported(workshop: Workshop, file: Path) -> bool:
    """Write what is left into a file that only its owner can read; say whether there was anything."""
    spool, data = packed(workshop.tools)
    if not spool.results:
        return False
    new = file.with_name(f".{file.name}.new")
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as written:
            written.write(data)
        new.replace(file)
    except OSError as error:
        raise OutputNotWritten(f"{file} can't be written: {error.strerror}") from error
    modules = ", ".join(sorted({each.result.module for each in spool.results}))
    click.echo(f"{file} has the results of {modules}; next: hybridwrap sync --from {file.name}    on any machine")
    return True


def _sent(workshop: Workshop, file: Path) -> int:
    workshop.ledger.open()
    spool = unpacked(file.read_bytes(), workshop.ledger.cipher, str(file))
    left = send(aside(workshop, Options()), spool)
    for module, why in left.items():
        click.echo(f"{module}: {why.removeprefix(f'{module}: ')}")
    return ResultNotSent.exit_code if left else 0
