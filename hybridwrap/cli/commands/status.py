"""`hybridwrap status`."""

from __future__ import annotations

import click

from hybridwrap.cli.compose import equip, look_at
from hybridwrap.cli.lines import coloured, faint, local_time, table
from hybridwrap.cli.options import Place, json_option, stack_options
from hybridwrap.cli.standing_json import standings_json
from hybridwrap.domain.json import canonical
from hybridwrap.domain.outputs import Provenance
from hybridwrap.domain.pending import pending_of
from hybridwrap.domain.status import Status
from hybridwrap.run.here import known_here
from hybridwrap.run.recorded import RUNS_LOOKED_AT
from hybridwrap.run.standing import Standing, standings


@click.command("status")
@stack_options
@json_option
def command(place: Place, as_json: bool) -> int:
    """Show where each module stands.

    Nothing is changed, no engine is started. Exit code 0 whatever the statuses.
    """
    workshop = equip(look_at(place))
    stack, ledger = workshop.stack, workshop.ledger
    records, runs = ledger.records(stack.modules), ledger.runs(RUNS_LOOKED_AT)
    here = known_here(workshop.tools, records)
    found = standings(stack, records, pending_of(runs, records), here=here)
    if as_json:
        click.echo(canonical(standings_json(stack, found, runs)))
        return 0
    click.echo(f"{stack.name} {faint('in')} {stack.environment}  {faint(ledger.place)}")
    if not found:
        click.echo("the stack has no modules")
    for line in table([("module", "status", "since", "by", "run", "outputs", "reason"), *map(_row, found)]):
        click.echo(line)
    return 0


def _row(standing: Standing) -> tuple[str, ...]:
    status = coloured(standing.status)
    if standing.was not in (None, Status.NONE):
        status += faint(f" (was {standing.was})")
    known = sum(output.provenance is Provenance.KNOWN for output in standing.outputs.values())
    outputs = f"{known} of {len(standing.outputs)}" if standing.outputs else ""
    user = standing.by.partition("@")[0]
    return (standing.module, status, local_time(standing.since), user, standing.run[-8:], outputs, standing.reason)
