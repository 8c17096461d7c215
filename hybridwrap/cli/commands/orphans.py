"""`hybridwrap orphans`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

import click

from hybridwrap.cli.compose import equip, look_at
from hybridwrap.cli.damage import refuse_damage
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.lines import coloured, faint, local_time, table, zone
from hybridwrap.cli.options import Place, json_option, stack_options
from hybridwrap.cli.wrapping import say
from hybridwrap.domain.absence import name_objects
from hybridwrap.domain.json import Json, canonical
from hybridwrap.run.lookalike import perhaps_moved
from hybridwrap.run.orphans import Orphan, orphans_of
from hybridwrap.run.rename import moved_to


@click.command("orphans")
@stack_options
@json_option
def command(place: Place, as_json: bool) -> int:
    """List modules that the ledger knows and the manifest has no more.

    Each with its age, what it still has, and where its source can come from. Nothing is changed.
    """
    workshop = equip(look_at(place))
    stack, ledger = workshop.stack, workshop.ledger
    records = ledger.records(stack.modules)
    same_state = moved_to(workshop.tools, records)
    moved = {**perhaps_moved(workshop.tools, records), **same_state}
    found = tuple(orphan for orphan in orphans_of(stack, records) if orphan.module not in moved)
    for old, new in moved.items():
        why = f"is none: {new} has its state now" if old in same_state else f"may be none: {new} has its source"
        moved_so = as_typed(f"hybridwrap mv {old} {new}", place)
        say(f"note: {old} {why}; next: {moved_so}", err=True)
    now = workshop.tools.clock.now()
    if as_json:
        about = {"version": 1, "stack": stack.name, "environment": stack.environment}
        click.echo(canonical({**about, "orphans": [_json(orphan, now, place) for orphan in found]}))
    else:
        for line in _lines(found, now, place):
            say(line)
    refuse_damage(ledger.damage)
    return 0


def _lines(found: Sequence[Orphan], now: datetime, place: Place) -> Iterator[str]:
    if not found:
        yield "there are no orphans: the manifest declares all that the ledger knows"
        return
    head = ("module", "status", f"since {zone()}", "age", "by", "objects", "source")
    yield from table([head, *(_row(orphan, now) for orphan in found)])
    for orphan in found:
        names = name_objects(orphan.objects) or "no object is known"
        yield faint(f"\n{orphan.module}: {names}\n  state: {orphan.state}")
        yield f"next: {_next(orphan, place)}"


def _row(orphan: Orphan, now: datetime) -> tuple[str, ...]:
    return (
        orphan.module,
        coloured(orphan.status),
        local_time(orphan.since),
        _age(_seconds(orphan, now)),
        orphan.by.partition("@")[0],
        str(len(orphan.objects)),
        orphan.source or "gone",
    )


def _json(orphan: Orphan, now: datetime, place: Place) -> Json:
    return {
        "module": orphan.module,
        "status": str(orphan.status),
        "since": orphan.since,
        "by": orphan.by,
        "age_seconds": _seconds(orphan, now),
        "objects": [{"address": o.address, "id": o.id} for o in orphan.objects],
        "state": orphan.state,
        "source": orphan.source,
        "depends_on": list(orphan.needs),
        "next": _next(orphan, place),
    }


def _next(orphan: Orphan, place: Place) -> str:
    return as_typed(f"hybridwrap destroy --orphan {orphan.module}", place)


def _seconds(orphan: Orphan, now: datetime) -> int:
    return round((now - datetime.fromisoformat(orphan.since)).total_seconds()) if orphan.since else 0


def _age(seconds: int) -> str:
    days, hours = seconds // 86_400, seconds // 3_600
    return f"{days} days" if days > 1 else f"{hours} h" if hours > 1 else f"{seconds // 60} min"
