"""`hybridwrap render`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from hybridwrap.cli.options import Place, json_option, stack_options
from hybridwrap.cli.running import Job, reading_job
from hybridwrap.cli.variables import Variables
from hybridwrap.domain.codec import plain
from hybridwrap.domain.entry import RecordedInput
from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.ports import PlanOptions
from hybridwrap.domain.shown_inputs import without_secrets
from hybridwrap.run.by_hand import SECRET_NAME
from hybridwrap.run.selection import Selection

OURS = ("TF_DATA_DIR", "TF_WORKSPACE")
FOLDER = Path("OPERATION")  # stands for the folder that each operation gets of its own


@click.command("render")
@stack_options
@click.argument("module")
@json_option
def command(place: Place, module: str, as_json: bool) -> int:
    """Show a module as the engine would get it.

    Inputs, state, command lines; nothing is run.
    """
    job = reading_job(place, Selection((module,), families=False), Variables(), parallelism=1)
    found = _rendered(job, module)
    if as_json:
        click.echo(canonical(found))
        return 0
    click.echo(f"{module}  {found['source']}\nengine  {found['engine']}\nstate   {found['state']['text']}\ninputs")
    for name, told in found["inputs"].items():
        click.echo(f"  {name} = {told}")
    for wait in found["waits"]:
        click.echo(click.style(f"  waits: {wait}", fg="yellow"))
    for variable, value in found["env"].items():
        click.echo(f"env     {variable}={value}")
    if found["credentials"]:
        click.echo(f"env     what is printed by: {shlex.join(found['credentials'])}")
    if found["account"]:
        click.echo(f"account {found['account']}")
    for line in found["commands"].values():
        click.echo(f"$ {shlex.join(line)}")
    return 0


def _rendered(job: Job, name: str) -> dict[str, Json]:
    tools = job.workshop.tools
    module = tools.stack.modules[name]
    inputs = without_secrets(
        module, lambda r: tools.others.output(r) if r.stack else job.knowledge.output(r), tools.host
    )
    engine = tools.engines.at(module, inputs.values)
    return {
        "version": 1,
        "module": name,
        "source": str(module.source),
        "engine": f"{engine.identity.product} {engine.identity.version}",
        "state": plain(engine.place) | {"text": str(engine.place)},
        "inputs": {name: _told(kept) for name, kept in inputs.recorded.items()},
        "waits": [wait.reason for wait in inputs.waits],
        "env": {name: _shown(name, engine.env[name]) for name in (*sorted(module.env), *OURS) if name in engine.env},
        "credentials": list(module.credentials.command),
        "account": module.account,
        "commands": {what: list(line) for what, line in engine.command_lines(FOLDER, PlanOptions()).items()},
    }


def _shown(variable: str, value: str) -> str:
    return "(secret)" if SECRET_NAME.search(variable) else value


def _told(kept: RecordedInput) -> str:
    return kept.reference if kept.sensitive or kept.reference else canonical(kept.value).decode()
