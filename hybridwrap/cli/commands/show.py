"""`hybridwrap show`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import click

from hybridwrap.cli.compose import equip, look_at
from hybridwrap.cli.failures import told
from hybridwrap.cli.lines import DONE, coloured, counted, duration, faint, local_time, table
from hybridwrap.cli.options import Place, json_option, stack_options
from hybridwrap.cli.runs import run_json, seconds_of
from hybridwrap.cli.scene import place_of
from hybridwrap.domain.json import canonical
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd, Run
from hybridwrap.domain.stack import Stack
from hybridwrap.errors import UsageError
from hybridwrap.run.evidence_of import evidence_of


@click.command("show")
@stack_options
@click.argument("run", required=False)
@json_option
def command(place: Place, run: str | None, as_json: bool) -> int:
    """Show one run.

    What each module did, all errors, where the logs lie. RUN is an id or its beginning; without it, the newest run.
    """
    workshop = equip(look_at(place))
    stack, ledger = workshop.stack, workshop.ledger
    newest = ledger.runs(1)
    if run is None and not newest:
        raise UsageError("nothing was run yet", hint="hybridwrap apply")
    found = ledger.run(run) if run else newest[0]
    if as_json:
        click.echo(canonical(run_json(found)))
        return 0
    for line in _lines(found, ledger.records(), stack):
        click.echo(line)
    for name, evidence in evidence_of(found, ledger.history).items():
        click.echo(f"\n{name}: what this rests on")
        for line in evidence:
            click.echo(faint(f"  {line}"))
    return 0


def _lines(run: Run, records: Mapping[str, Record], stack: Stack) -> Iterator[str]:
    start, end = run.start, run.end
    yield f"{start.command} {start.run}  {local_time(start.time)}  by {start.writer}"
    yield faint(f"hybridwrap {' '.join(start.argv)}")
    if start.writer.ci_url:
        yield start.writer.ci_url
    if end is None:
        yield f"{len(start.modules)} modules selected; no end is recorded: still at work, or killed"
        return
    yield f"exit {end.exit_code} after {duration(seconds_of(run))}"
    yield from table([_row(name, end.modules[name]) for name in start.modules if name in end.modules])
    for name, module in end.modules.items():
        for error in module.errors:
            source = stack.modules[name].source if name in stack.modules else stack.root
            yield f"\n{name}: {told(error, place_of(error, source, stack.root))}"
            yield from (faint(f"  {line}") for line in error.detail.splitlines())
        record = records.get(name)
        if module.errors and record and record.operation == module.operation and record.log:
            yield faint(f"  log: {record.log} on {record.by.partition('@')[2]}")


def _row(name: str, end: ModuleEnd) -> tuple[str, ...]:
    took = duration(end.seconds) if end.seconds else ""
    return (name, coloured(end.result), counted(end.counts, DONE), took, "".join(end.reason.splitlines()[:1]))
