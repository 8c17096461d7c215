"""`hybridwrap schema`."""

from __future__ import annotations

import click

from hybridwrap.adapters.schemas import load_schema, schemas
from hybridwrap.domain.json import pretty
from hybridwrap.errors import UsageError


@click.command("schema")
@click.argument("name", default="stack")
@click.option("--list", "names_only", is_flag=True, help="Only name the schemas that there are.")
def command(name: str, names_only: bool) -> int:
    """Print a JSON Schema, for editors and programs.

    Without NAME that of the manifest. For completion in editors, put it into a file, and a line on top of the manifest:
    "# yaml-language-server: $schema=FILE".
    """
    known = schemas()
    if names_only:
        click.echo("\n".join(known))
        return 0
    found = [each for each in known if each == name or each.partition(".")[0] == name]
    if not found:
        raise UsageError(f"there is no schema {name}; there are: {', '.join(known)}", hint="hybridwrap schema --list")
    click.echo(pretty(load_schema(found[-1])))
    return 0
