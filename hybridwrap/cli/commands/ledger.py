"""`hybridwrap ledger`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from shlex import quote

import click

from hybridwrap.cli.commands.ledger_repair import repair
from hybridwrap.cli.completing import offer_modules
from hybridwrap.cli.compose import equip, look_at
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.lines import faint, table
from hybridwrap.cli.options import Place, json_option, stack_options
from hybridwrap.cli.stores import store_of
from hybridwrap.cli.wrapping import say
from hybridwrap.domain.damage import Damage
from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.keys import Keys
from hybridwrap.domain.mending import Mend
from hybridwrap.domain.runs import unreadable_runs
from hybridwrap.errors import LedgerDamaged

SOUND = click.style("sound", fg="green")


@click.group("ledger")
def command() -> None:
    """Look after the ledger itself.

    Whether its logs keep its rules, and how what is damaged comes back.
    """


@command.command("verify", short_help="Name every entry that breaks a rule of the ledger.")
@stack_options
@click.argument("modules", nargs=-1, shell_complete=offer_modules)
@json_option
def verify(place: Place, modules: tuple[str, ...], as_json: bool) -> int:
    """Read every entry again, and name all that breaks a rule of the ledger.

    Hash chains, sequence, blobs, holders, evidence, ends of owners that other ends rest on, and without MODULES the
    documents of runs; exit code 33 when there is any.
    """
    workshop = equip(look_at(place))
    ledger = workshop.ledger
    known = modules or sorted({*workshop.stack.modules, *ledger.modules()})
    flaws = {module: ledger.verify(module) for module in known}
    damaged = {module: ledger.mends(module, None) for module, found in flaws.items() if found}
    keys = Keys(workshop.stack.name, workshop.stack.environment)
    runs = () if modules else unreadable_runs(store_of(workshop.stack.ledger), keys)  # not what this host remembers
    if as_json:
        click.echo(canonical({"version": 1, "modules": flaws, "objects": _objects(damaged, runs)}))
    for line in _lines(flaws, damaged, runs, place) if not as_json else ():
        say(line)
    return LedgerDamaged.exit_code if any(flaws.values()) or runs else 0


def _lines(
    flaws: Mapping[str, list[str]], damaged: Mapping[str, tuple[Mend, ...]], runs: Sequence[Damage], place: Place
) -> Iterator[str]:
    rows: list[tuple[str, ...]] = []
    for module, found in flaws.items():
        rows += [(module, flaw) for flaw in found or [SOUND]]
        rows += [("", faint(mend.key)) for mend in reversed(damaged.get(module, ()))]
    yield from table(rows) if rows else ()
    for damage in runs:
        yield f"a run: {damage}"
    if damaged:
        yield as_typed(f"next: hybridwrap ledger repair {' '.join(map(quote, damaged))}", place)
    elif runs:
        yield "next: bring the document back from an older version or a backup; without it that run is left out"


def _objects(damaged: Mapping[str, tuple[Mend, ...]], runs: Sequence[Damage]) -> list[Json]:
    """Every damaged object by its key; `module` is empty for those of runs."""
    of_modules = [(module, mend.key, mend.flaw) for module, mends in damaged.items() for mend in mends]
    of_runs = [("", damage.key, damage.why) for damage in runs]
    return [{"module": module, "key": key, "flaw": flaw} for module, key, flaw in (*of_modules, *of_runs)]


command.add_command(repair)
