"""`hybridwrap validate`."""

from __future__ import annotations

from collections.abc import Iterable

import click
from msgspec.structs import replace

from hybridwrap.cli.compose import environments, load
from hybridwrap.cli.options import Place, json_option, stack_options
from hybridwrap.counting import count_of
from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.stack import Stack
from hybridwrap.errors import InvalidManifest, Problem


@click.command("validate")
@stack_options
@click.option(
    "--all-environments", is_flag=True, help="In each environment of the manifest; what is wrong is said once."
)
@json_option
def command(place: Place, all_environments: bool, as_json: bool) -> int:
    """Check the manifest and its modules; run nothing.

    Everything that can be known wrong before a run is said at once, with file, line and column; exit code 10.
    """
    places = [replace(place, environment=name) for name in environments(place)] if all_environments else [place]
    stacks = _loaded(places)
    if as_json:
        found = [_as_json(stack) for stack in stacks]
        click.echo(canonical(found if all_environments else found[0]))
        return 0
    for warning in dict.fromkeys(warning for stack in stacks for warning in stack.warnings):
        click.echo(f"warning: {warning}", err=True)
    for stack in stacks:
        count = count_of(len(stack.modules), "module")
        click.echo(f"{stack.name} in {stack.environment}: {count}, no errors")
    return 0


def _loaded(places: Iterable[Place]) -> list[Stack]:
    """Load a manifest in several environments. Raise InvalidManifest with the problems of all."""
    stacks: list[Stack] = []
    problems: dict[Problem, None] = {}
    for place in places:
        try:
            stacks.append(load(place))
        except InvalidManifest as error:
            problems |= dict.fromkeys(error.problems)
    if problems:
        raise InvalidManifest(list(problems))
    return stacks


def _as_json(stack: Stack) -> Json:
    return {
        "version": 1,
        "stack": stack.name,
        "environment": stack.environment,
        "modules": list(stack.modules),
        "warnings": list(stack.warnings),
    }
