"""`hybridwrap list`."""

from __future__ import annotations

import os

import click

from hybridwrap.cli.compose import equip, load
from hybridwrap.cli.lines import table
from hybridwrap.cli.options import Place, json_option, selection_options, stack_options
from hybridwrap.cli.running import selected
from hybridwrap.domain.json import canonical
from hybridwrap.domain.stack import Module
from hybridwrap.run.selection import Selection


@click.command("list")
@stack_options
@selection_options
@json_option
def command(place: Place, selection: Selection, as_json: bool) -> int:
    """List the modules of the stack, in order.

    Each comes after those that it needs, as they are applied.
    """
    stack = load(place)
    modules = [stack.modules[name] for name in selected(equip(stack), selection)]
    folders = {module.name: os.path.relpath(module.source, stack.root) for module in modules}
    if as_json:
        click.echo(canonical([_as_json(module, folders[module.name]) for module in modules]))
        return 0
    rows = [(module.name, folders[module.name], ", ".join(module.needs)) for module in modules]
    for line in table([("module", "source", "needs"), *rows]):
        click.echo(line)
    return 0


def _as_json(module: Module, folder: str) -> dict[str, object]:
    return {
        "module": module.name,
        "source": folder,
        "needs": list(module.needs),
        "edges": {need: list(kinds) for need, kinds in module.edges.items()},
        "owner": module.owner or None,
        "tags": list(module.tags),
    }
