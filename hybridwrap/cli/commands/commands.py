"""`hybridwrap commands`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click

from hybridwrap.cli.completing import offer_modules
from hybridwrap.cli.compose import Workshop, equip, load
from hybridwrap.cli.options import Place, json_option, stack_options
from hybridwrap.cli.running import aside
from hybridwrap.domain.families import did_you_mean, instances, several
from hybridwrap.domain.json import Json, canonical
from hybridwrap.errors import LedgerDamaged, LedgerUnreachable, UsageError
from hybridwrap.run.by_hand import Recipe, Secret, recipe
from hybridwrap.run.context import Context, Options

CHANGING = {"apply": "to carry that plan out:", "destroy": "to destroy everything in it:"}  # never run by a mere paste


@click.command("commands")
@stack_options
@click.argument("module", shell_complete=offer_modules)
@json_option
def command(place: Place, module: str, as_json: bool) -> int:
    """Print the engine's command lines for a module: the way on without hybridwrap.

    A script for a POSIX shell, with environment, variables and state place; secrets are named and never shown. It works
    without the ledger, too. What was changed by hand is taken up by the next apply, or by adopt.
    """
    workshop = equip(load(place))
    if found := instances(module, workshop.stack.modules):
        raise UsageError(several(module, found), hint="hybridwrap list")
    if module not in workshop.stack.modules:
        raise UsageError(
            f"the stack has no module {module}{did_you_mean(module, workshop.stack.modules)}", hint="hybridwrap list"
        )
    printed = recipe(_context(workshop), module, workshop.home / "by-hand" / module)
    if as_json:
        click.echo(canonical(_as_json(printed)))
        return 0
    for line in _script(printed):
        click.echo(line)
    return 0


def _context(workshop: Workshop) -> Context:
    """Know what the ledger says, or, while it can't be reached or understood, what the states say."""
    try:
        return aside(workshop, Options())
    except (LedgerUnreachable, LedgerDamaged) as error:
        click.echo(f"note: {error.message}; outputs of other modules are read from their states", err=True)
        return aside(workshop, Options(), {})


def _script(found: Recipe) -> Iterator[str]:
    private = found.by_hand.var_file.parent
    yield _comment(f"{found.module.name}: {found.engine.product} {found.engine.version}, state at {found.state}")
    yield _comment("secrets are named, not shown: a line that needs one fails while it is not set")
    yield f"cd {shlex.quote(str(found.by_hand.folder))}"
    yield from (f"unset {name}" for name in found.unset)
    yield from (f"export {name}={shlex.quote(value)}" for name, value in found.env.items())
    for secret in found.secrets:
        yield _comment(f"{secret.variable}: secret, from {secret.origin}")
        yield _from_its_place(secret)
    if found.module.credentials.command:
        yield _comment("credentials: what this prints as JSON, in the manifest's folder, belongs into the environment:")
        yield _comment(shlex.join(found.module.credentials.command))
    if found.module.account:
        yield _comment(f"account: AWS must know you there as {found.module.account}: aws sts get-caller-identity")
    yield from (_comment(f"missing: {reason}") for reason in found.waits)
    yield from (_written(str(file), text) for file, text in found.by_hand.files.items())
    yield f"mkdir -p -m 700 {shlex.quote(str(private))}"
    yield _written(str(found.by_hand.var_file), canonical(found.values).decode())
    for what, line in found.by_hand.lines.items():
        if what in CHANGING:
            yield _comment(CHANGING[what])
        yield f"{'# ' * (what in CHANGING)}{shlex.join(line)}"
    yield _comment(f"when done, as a plan may hold secrets: rm -r {shlex.quote(str(private))}")
    yield _comment(f"so that the ledger knows it: hybridwrap apply {found.module.name}")


def _comment(text: str) -> str:
    return f"# {' '.join(text.split())}"


def _from_its_place(secret: Secret) -> str:
    name = secret.variable
    if secret.from_env:
        return f'export {name}="${{{secret.from_env}:?}}"'
    if secret.from_file:  # a substitution drops the line ends of a file's end, which belong to the value
        file = shlex.quote(str(secret.from_file))
        return f'{name}="$(cat {file} && echo .)" && export {name}="${{{name}%.}}"'
    return f': "${{{name}:?}}"'


def _written(file: str, text: str) -> str:
    """A line that writes a private file, whatever is in the text."""
    return f"(umask 077 && printf '%s\\n' {shlex.quote(text)} > {shlex.quote(file)})"


def _as_json(found: Recipe) -> Json:
    return {
        "version": 1,
        "module": found.module.name,
        "engine": {"product": found.engine.product, "version": found.engine.version},
        "state": str(found.state),
        "folder": str(found.by_hand.folder),
        "env": dict(found.env),
        "credentials": list(found.module.credentials.command),
        "account": found.module.account,
        "unset": list(found.unset),
        "secrets": {secret.variable: secret.origin for secret in found.secrets},
        "variables": dict(found.values),
        "var_file": str(found.by_hand.var_file),
        "files": {str(file): text for file, text in found.by_hand.files.items()},
        "missing": list(found.waits),
        "commands": {what: list(line) for what, line in found.by_hand.lines.items()},
    }
