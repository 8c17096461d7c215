"""`hybridwrap ledger repair`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from shlex import quote

import click

from hybridwrap.adapters.backup import Backup
from hybridwrap.cli.completing import offer_modules
from hybridwrap.cli.compose import Workshop, equip, look_at
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.lines import faint
from hybridwrap.cli.options import Place, json_option, stack_options
from hybridwrap.cli.stores import copies_of, s3_settings_of
from hybridwrap.counting import count_of
from hybridwrap.domain.json import canonical
from hybridwrap.domain.keys import Keys, quoted
from hybridwrap.domain.mending import Mend, put_back
from hybridwrap.domain.ports import Copies
from hybridwrap.errors import LedgerDamaged, Stopped, UsageError

Mends = Mapping[str, tuple[Mend, ...]]


@click.command("repair")
@stack_options
@click.argument("modules", nargs=-1, shell_complete=offer_modules)
@click.option(
    "--from",
    "backup",
    type=click.Path(exists=True, file_okay=False, path_type=Path, resolve_path=True),
    help="Take what fits from this copy of the ledger, a folder with `v1` in it; not from a bucket's versions.",
)
@click.option("--yes", is_flag=True, help="Put back all that is proven, without a question.")
@json_option
def repair(place: Place, modules: tuple[str, ...], backup: Path | None, yes: bool, as_json: bool) -> int:
    """Put damaged objects of the ledger back as they were written.

    Shows first what is altered or missing, and what is left of it: a version in the bucket, or a copy in a backup.
    Only what is proven is put back: bytes whose digest the next entry, the head or the object's own name has; of the
    last entry the oldest version, if it follows the one before. Nothing is made up. Exit code 33 when damage is left.
    """
    workshop = equip(look_at(place))
    names = _named(workshop, modules)
    copies = _copies(workshop, backup)
    found = {name: workshop.ledger.mends(name, copies) for name in names}
    wanted = [mend for mends in found.values() for mend in mends if mend.data is not None]
    if as_json:
        code = _for_programs(workshop, found, wanted if yes else [])
        if wanted and not yes:
            raise _unasked(wanted, modules)
        return code
    for line in _lines(found):
        click.echo(line)
    if wanted:
        _ask(wanted, workshop.ledger.place, modules, yes=yes)
    flaws = _after(workshop, names, wanted)
    for line in _left(found, flaws):
        click.echo(line)
    if not any(flaws.values()):
        return 0
    for line in _ways_out(workshop, copies, next(name for name, left in flaws.items() if left)):
        click.echo(as_typed(line, place))
    return LedgerDamaged.exit_code


def _for_programs(workshop: Workshop, found: Mends, wanted: list[Mend]) -> int:
    """Print one object, also where nothing was wanted: `proof` is empty where no copy is left that fits."""
    flaws = _after(workshop, tuple(found), wanted)
    objects = [
        {
            "module": module,
            "key": mend.key,
            "what": mend.what,
            "flaw": mend.flaw,
            "proof": mend.proof,
            "put_back": mend in wanted,
        }
        for module, mends in found.items()
        for mend in mends
    ]
    click.echo(canonical({"version": 1, "modules": flaws, "objects": objects}))
    return LedgerDamaged.exit_code if any(flaws.values()) else 0


def _after(workshop: Workshop, names: tuple[str, ...], wanted: list[Mend]) -> Mapping[str, list[str]]:
    """Put back what is wanted, and say what is damaged after that."""
    for mend in wanted:
        put_back(workshop.ledger.store, mend)
    return {name: workshop.ledger.verify(name) for name in names}


def _named(workshop: Workshop, modules: tuple[str, ...]) -> tuple[str, ...]:
    known = sorted({*workshop.stack.modules, *workshop.ledger.modules()})
    if unknown := sorted(set(modules) - set(known)):
        raise UsageError(
            f"neither stack {workshop.stack.name} nor its ledger has a module {unknown[0]}", hint="hybridwrap list"
        )
    return modules or tuple(known)


def _copies(workshop: Workshop, backup: Path | None) -> Copies | None:
    if backup is None:
        return copies_of(workshop.stack.ledger)
    root = Keys(workshop.stack.name, workshop.stack.environment).root
    if not (backup / root).is_dir():
        raise UsageError(f"{backup} is no copy of this ledger: there is no {root} in it")
    return Backup(backup)


def _lines(found: Mends) -> Iterator[str]:
    for name, mends in found.items():
        for mend in sorted(mends, key=lambda each: each.key):
            yield f"{name}  {mend.what}: {mend.flaw}"
            yield faint(f"  {mend.key}")
            yield (f"  a copy is left: {mend.proof}" if mend.data is not None else "  nothing is left that fits")


def _ask(wanted: list[Mend], ledger: str, modules: tuple[str, ...], *, yes: bool) -> None:
    """Raise Stopped for a no, LedgerDamaged where nobody can be asked; nothing was changed then."""
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise _unasked(wanted, modules)
    if not click.confirm(f"\nPut {count_of(len(wanted), 'object')} back into {ledger}?"):
        raise Stopped("nothing was changed")


def _unasked(wanted: list[Mend], modules: tuple[str, ...]) -> LedgerDamaged:
    command = " ".join(("hybridwrap ledger repair", *map(quote, modules), "--yes"))
    told = f"nothing was changed: nobody can be asked here to put back {count_of(len(wanted), 'object')}"
    return LedgerDamaged(told, hint=command)


def _left(found: Mends, flaws: Mapping[str, list[str]]) -> Iterator[str]:
    for name, left in flaws.items():
        done = sum(mend.data is not None for mend in found[name])
        told = f"{done} put back; " if done else ""
        if not left:
            yield f"{name}  {told}sound"
        elif done or not found[name]:  # else it was just said
            yield from (f"{name}  {told}{flaw}" for flaw in left)


def _ways_out(workshop: Workshop, copies: Copies | None, name: str) -> Iterator[str]:
    """What to do about a log of which not enough is left."""
    where = "in a folder nothing keeps what was there before" if copies is None else f"{copies.place} has no more"
    yield f"next: {where}; from a backup of it: hybridwrap ledger repair {quote(name)} --from FOLDER"
    yield f"      without one, once nobody is at work on {name}: put its log aside, then hybridwrap adopt {quote(name)}"
    yield from (f"        {command}" for command in _aside(workshop, name))
    yield f"      its state is believed then; what is not in it is forgotten: hybridwrap tf {quote(name)} -- state list"


def _aside(workshop: Workshop, name: str) -> Iterator[str]:
    """The commands that put a log out of the ledger's way, and keep it."""
    keys, settings = Keys(workshop.stack.name, workshop.stack.environment), workshop.stack.ledger
    log, head = keys.log(name), keys.head(name)
    if not settings.bucket:
        root = workshop.ledger.place
        yield f"mv {quote(f'{root}/{log[:-1]}')} {quote(f'{root}/lost-{quoted(name)}')}"
        yield f"rm -f {quote(f'{root}/{head}')}"
        return
    prefix = f"s3://{settings.bucket}/{s3_settings_of(settings).folder}"
    yield f"aws s3 mv --recursive {quote(prefix + log)} {quote(f'{prefix}lost/{log}')}"
    yield f"aws s3 rm {quote(prefix + head)}"
