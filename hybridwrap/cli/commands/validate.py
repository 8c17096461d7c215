"""`hybridwrap validate`."""

from __future__ import annotations

import click

from hybridwrap.cli.compose import load
from hybridwrap.cli.options import Place, json_option, stack_options
from hybridwrap.domain.json import canonical


@click.command("validate")
@stack_options
@json_option
def command(place: Place, as_json: bool) -> int:
    """Check the manifest and its modules; run nothing.

    Everything that can be known wrong before a run is said at once, with file, line and column; exit code 10.
    """
    stack = load(place)
    if as_json:
        found = {"version": 1, "stack": stack.name, "environment": stack.environment, "modules": list(stack.modules)}
        click.echo(canonical({**found, "warnings": list(stack.warnings)}))
        return 0
    for warning in stack.warnings:
        click.echo(f"warning: {warning}", err=True)
    count = "1 module" if len(stack.modules) == 1 else f"{len(stack.modules)} modules"
    click.echo(f"{stack.name} in {stack.environment}: {count}, no errors")
    return 0
