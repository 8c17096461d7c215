"""The very last words of a teardown: what still exists, and which outputs are left to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import click

from hybridwrap.cli.hints import as_typed, place_of_call
from hybridwrap.cli.teller import Teller
from hybridwrap.counting import first_of
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.outputs import Provenance
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd, RunEnd
from hybridwrap.domain.teardown import in_the_way

NAMED = 3  # objects that are named for a module


def end_with_survivors(watch: Teller, end: RunEnd, records: Mapping[str, Record], *, as_json: bool) -> None:
    """Close the run; programs get the result last, people what is left."""
    lines = list(survivor_lines(end.modules, records))
    for line in lines if as_json else ():
        watch.note(line)
    watch.run_ended(end, {})
    for line in () if as_json else lines:
        click.echo(line)


def survivor_lines(ends: Mapping[str, ModuleEnd], records: Mapping[str, Record]) -> Iterator[str]:
    """Name what is left of the modules that were to go; nothing for what is gone or was retained."""
    left = [record for name in ends if (record := records.get(name)) and in_the_way(record)]
    readable = [r for r in left if any(o.provenance is not Provenance.MISSING for o in r.outputs.values())]
    if readable:
        names = ", ".join(record.module for record in readable)
        yield f"outputs of {names} stay readable: {as_typed('hybridwrap output', place_of_call())}"
    if left:
        yield f"Still there, and may be billed: {'; '.join(map(_told, left))}"


def _told(record: Record) -> str:
    if not record.objects:
        return f"{record.module}: nothing that is known by name"
    return f"{record.module}: {first_of([_name(o) for o in record.objects], NAMED)}"


def _name(o: CloudObject) -> str:
    return f"{o.address} {o.id}".strip()
