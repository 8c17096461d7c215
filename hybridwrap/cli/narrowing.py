"""Selections by comparison: with a commit, and with what was last applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click
from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.cli.compose import Workshop
from hybridwrap.cli.compose import changed as changed_in
from hybridwrap.cli.hints import as_typed, place_of_call
from hybridwrap.counting import first_of
from hybridwrap.domain.changes import Changed
from hybridwrap.domain.pending import pending_of
from hybridwrap.domain.record import Record
from hybridwrap.run.merged import unapplied_modules
from hybridwrap.run.recorded import RUNS_LOOKED_AT
from hybridwrap.run.selection import Selection

SHOWN = 6  # modules in a line


class Narrowed(Struct, frozen=True):
    """A selection with the modules that the comparisons left over, and why each of them counts."""

    selection: Selection
    changed: Changed | None = None
    unapplied: Mapping[str, tuple[str, ...]] | None = None

    def why(self, module: str) -> tuple[str, ...]:
        """Why a module counts; nothing for one that only goes along."""
        by_commit = self.changed.modules.get(module, ()) if self.changed else ()
        return (*by_commit, *(self.unapplied or {}).get(module, ()))


def narrowed(workshop: Workshop, selection: Selection, records: Mapping[str, Record] | None = None) -> Narrowed:
    """Carry out the comparisons that a selection asks for. Raise UsageError, LedgerUnreachable."""
    changed = unapplied = None
    only: frozenset[str] | None = selection.only
    if selection.changed is not None:
        changed = changed_in(workshop.stack, selection.changed)
        only = frozenset(changed.modules)
    if selection.unapplied:
        known = workshop.ledger.records(workshop.stack.modules) if records is None else records
        pending = pending_of(workshop.ledger.runs(RUNS_LOOKED_AT), known)
        unapplied = unapplied_modules(workshop.tools, known, pending)
        only = frozenset(unapplied) if only is None else only & frozenset(unapplied)
    return Narrowed(replace(selection, only=only), changed, unapplied)


def tell(found: Narrowed, modules: Sequence[str], total: int) -> None:
    """Say on stderr what was compared, what counts and why, and what is gone from the manifest."""
    tell_base(found, modules, total, _named(found, modules))


def tell_base(found: Narrowed, modules: Sequence[str], total: int, named: str = "") -> None:
    """Say on stderr what was compared, how many modules count or go along, and what is gone from the manifest."""
    by_commit = [f"changed since {found.changed.base}"] if found.changed else []
    by_ledger = ["not as last applied"] if found.unapplied is not None else []
    count = sum(bool(found.why(name)) for name in modules)
    told = f"{count} of {total} modules" if modules or not by_commit else "nothing"
    along = f", {len(modules) - count} more to go along" if len(modules) > count else ""
    what = " and ".join([*by_commit, *by_ledger])
    click.echo(f"{told} {what}{along}{f': {named}' if named else ''}", err=True)
    for gone in found.changed.gone if found.changed else ():
        message = f"{gone} is not in the manifest any more; what it made is still there"
        click.echo(f"{message}. next: {as_typed('hybridwrap orphans', place_of_call())}", err=True)


def _named(found: Narrowed, modules: Sequence[str]) -> str:
    return first_of([f"{name} ({short_reason(found.why(name))})" for name in modules], SHOWN)


def short_reason(why: Sequence[str]) -> str:
    """The first reason, and how many more there are; a module without one goes along with another."""
    if not why:
        return "goes along"
    return why[0] if len(why) == 1 else f"{why[0]} and {len(why) - 1} more"
