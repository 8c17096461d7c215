"""`hybridwrap output`."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import click

from hybridwrap.cli.completing import offer_modules
from hybridwrap.cli.compose import Workshop, equip, look_at
from hybridwrap.cli.damage import damage_of, refuse_damage
from hybridwrap.cli.lines import faint, table
from hybridwrap.cli.options import Place, json_option, reading_options
from hybridwrap.domain.families import did_you_mean, instances
from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.errors import PreflightRefused, UsageError

HIDDEN = "(sensitive)"


@click.command("output")
@reading_options
@click.argument("module", required=False, shell_complete=offer_modules)
@click.argument("name", required=False)
@click.option("-raw", "--raw", is_flag=True, help="Print one value as it is; only a known one.")
@click.option("--show-sensitive", is_flag=True, help="Read sensitive values from the engine's state and print them.")
@json_option
def command(place: Place, module: str | None, name: str | None, raw: bool, show_sensitive: bool, as_json: bool) -> int:
    """Show outputs, each with where its value comes from.

    Without words all of them; MODULE NAME or MODULE.NAME is one. known: of the last good apply. stale: older than the
    last change. partial: read after an unfinished operation. missing: not there.
    """
    workshop = equip(look_at(place))
    found = _chosen(workshop, module, name)
    damage = damage_of(workshop.ledger.damage, found)
    if show_sensitive:
        found = {m: _revealed(workshop, m, outputs) for m, outputs in found.items()}
    if raw:
        click.echo(_raw(module, name, found))
    elif as_json:
        click.echo(canonical({m: {n: _as_json(o) for n, o in outputs.items()} for m, outputs in found.items()}))
    else:
        rows = [_row(f"{m}.{n}", output) for m, outputs in found.items() for n, output in outputs.items()]
        for line in table(rows) if rows else ["no outputs are recorded"]:
            click.echo(line)
    refuse_damage(damage)
    return 0


def _chosen(workshop: Workshop, module: str | None, name: str | None) -> Mapping[str, Mapping[str, Output]]:
    records = workshop.ledger.records(workshop.stack.modules)
    known = {m: record.outputs for m, record in records.items()}
    if module is None:
        return known
    if name is None:
        module, name = _parted(module, {*known, *workshop.stack.modules})
    if name is None and (found := instances(module, {**workshop.stack.modules, **known})):
        return {one: known.get(one, {}) for one in found}
    modules = {*known, *workshop.stack.modules}
    if module not in modules:
        raise UsageError(f"there is no module {module}{did_you_mean(module, modules)}", hint="hybridwrap list")
    outputs = known.get(module, {})
    if name is None:
        return {module: outputs}
    if name not in outputs:
        there = f"it has: {', '.join(outputs)}" if outputs else "it has none recorded"
        raise UsageError(f"{module} has no output {name}; {there}")
    return {module: {name: outputs[name]}}


def _parted(words: str, modules: Collection[str]) -> tuple[str, str | None]:
    """Part MODULE.NAME, as the list has it, into module and output; the name of a module has no second half."""
    module, _, name = words.rpartition(".")
    return (module, name) if words not in modules and module in modules else (words, None)


def _revealed(workshop: Workshop, module: str, outputs: Mapping[str, Output]) -> Mapping[str, Output]:
    """Fill in sensitive values from the state in force, when it is the recorded one."""
    declared = workshop.stack.modules.get(module)
    recorded = workshop.ledger.record(module).state
    if not declared or not any(output.sensitive for output in outputs.values()):
        return outputs
    state = workshop.tools.engines.at(declared).state()
    if not state or not recorded or (state.lineage, state.serial) != (recorded.lineage, recorded.serial):
        raise PreflightRefused(
            f"{module}: its state is not the recorded one, so that its sensitive outputs can't be shown",
            hint=f"hybridwrap apply {module}",
        )
    return {
        name: Output(output.provenance, sensitive=False, value=state.outputs[name].value, type=output.type)
        if output.sensitive and name in state.outputs
        else output
        for name, output in outputs.items()
    }


def _raw(module: str | None, name: str | None, found: Mapping[str, Mapping[str, Output]]) -> str:
    one = [(m, n, output) for m, outputs in found.items() for n, output in outputs.items()]
    if len(one) != 1 or (name is None and module in {None, one[0][0]}):
        raise UsageError("--raw prints one value: name the module and the output")
    ((module, name, output),) = one
    if output.sensitive:
        raise UsageError(f"{module}.{name} is sensitive", hint="add --show-sensitive")
    if output.provenance is not Provenance.KNOWN:
        raise PreflightRefused(
            f"{module}.{name} is {output.provenance}, not known", hint=f"hybridwrap output {module} {name}"
        )
    return output.value if isinstance(output.value, str) else canonical(output.value).decode()


def _row(name: str, output: Output) -> tuple[str, ...]:
    value = HIDDEN if output.sensitive else canonical(output.value).decode()
    if output.provenance is Provenance.MISSING:
        value = ""
    told = str(output.provenance)
    return (name, faint(told) if output.provenance is Provenance.KNOWN else click.style(told, fg="yellow"), value)


def _as_json(output: Output) -> Json:
    told = {"type": output.type, "sensitive": output.sensitive, "provenance": str(output.provenance)}
    return told if output.sensitive else {**told, "value": output.value}
