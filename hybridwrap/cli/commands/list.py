"""`hybridwrap list`."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from hybridwrap.cli.compose import equip, load
from hybridwrap.cli.lines import table
from hybridwrap.cli.narrowing import Narrowed, narrowed, short_reason, tell_base
from hybridwrap.cli.options import Place, json_option, selection_options, stack_options
from hybridwrap.cli.running import select_by_status
from hybridwrap.domain.families import family_of
from hybridwrap.domain.graph import waves
from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.stack import Module, Stack
from hybridwrap.run.selection import Selection


@click.command("list")
@stack_options
@selection_options
@json_option
def command(place: Place, selection: Selection, as_json: bool) -> int:
    """List the modules of the stack, in order.

    Each comes after those that it needs, as they are applied. With --changed or --unapplied it says why each is one.
    --json has waves: the modules of one need nothing but what is in those before it. What a ledger knows without a
    manifest is listed by `status --ledger`, and drawn by `graph --ledger`.
    """
    stack = load(place)
    workshop = equip(stack)
    found = narrowed(workshop, selection)
    modules = [stack.modules[name] for name in select_by_status(workshop, found.selection)]
    if as_json:
        click.echo(canonical(_as_json(stack, modules, found)))
        return 0
    if found.selection.only is not None:
        tell_base(found, [module.name for module in modules], len(stack.modules))
    head = ("module", "source", "needs", *(["why"] if found.selection.only is not None else []))
    rows = [_row(module, stack, found) for module in modules]
    for line in table([head, *rows]) if rows else ():
        click.echo(line)
    return 0


def _row(module: Module, stack: Stack, found: Narrowed) -> tuple[str, ...]:
    row = (module.name, _folder(module, stack), ", ".join((*module.needs, *module.elsewhere)))
    return row if found.selection.only is None else (*row, short_reason(found.why(module.name)))


def _folder(module: Module, stack: Stack) -> str:
    return module.origin or os.path.relpath(module.source, stack.root)


def _as_json(stack: Stack, modules: Sequence[Module], found: Narrowed) -> Json:
    numbers = waves({name: module.needs for name, module in stack.modules.items()}, [m.name for m in modules])
    changed = found.changed
    return {
        "version": 1,
        "stack": stack.name,
        "environment": stack.environment,
        "modules": [
            {
                "module": module.name,
                "source": _folder(module, stack),
                "wave": numbers[module.name],
                "needs": list(module.needs),
                "edges": {need: list(kinds) for need, kinds in module.edges.items()},
                "elsewhere": list(module.elsewhere),
                "owner": module.owner or None,
                "instance_of": family_of(module.name) or None,
                "tags": list(module.tags),
                "reasons": list(found.why(module.name)),
            }
            for module in modules
        ],
        "waves": [[name for name, number in numbers.items() if number == wave] for wave in sorted({*numbers.values()})],
        "base": {"commit": changed.base.commit, "told": changed.base.told} if changed else None,
        "gone": list(changed.gone) if changed else [],
    }
