"""A module as a person can run it without hybridwrap: command lines, environment, values; secrets by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from hybridwrap.domain.entry import EngineIdentity
from hybridwrap.domain.inputs import TF_VAR, ResolvedInputs, Wait
from hybridwrap.domain.json import Json
from hybridwrap.domain.outputs import Output
from hybridwrap.domain.ports import ByHand
from hybridwrap.domain.shown_inputs import without_secrets
from hybridwrap.domain.stack import FromEnv, FromFile, Module, Reference
from hybridwrap.domain.state import StatePlace
from hybridwrap.errors import LedgerUnreachable
from hybridwrap.run.context import Context
from hybridwrap.run.needs import known_output

OURS_ALONE = frozenset({"GOGC", "GOMEMLIMIT", "TF_IN_AUTOMATION"})  # of no use to a person
SECRET_NAME = re.compile(r"(?i)secret|token|passw|passphrase|private|credential|_key$")


class Secret(Struct, frozen=True):
    """A variable of the environment that must be set, and where its value comes from."""

    variable: str
    origin: str  # in words
    from_env: str = ""  # take it from this variable
    from_file: Path | None = None


class Recipe(Struct, frozen=True):
    module: Module
    engine: EngineIdentity
    state: StatePlace
    by_hand: ByHand
    env: Mapping[str, str]  # to be set besides what the caller has
    unset: tuple[str, ...]
    values: Mapping[str, Json]  # of variables that are no secrets
    secrets: tuple[Secret, ...]
    waits: tuple[str, ...]


def recipe(context: Context, name: str, folder: Path) -> Recipe:
    """Find out what a module's engine would get, for var-file and plan in `folder`. Raise PreflightRefused."""
    module, host = context.tools.stack.modules[name], context.tools.host
    inputs = without_secrets(module, lambda r: _output(context, r), host)
    engine = context.tools.engines.at(module, inputs.values)
    secrets = tuple(_secrets(module, inputs, engine.env))
    hidden = {secret.variable for secret in secrets} | OURS_ALONE
    return Recipe(
        module=module,
        engine=engine.identity,
        state=engine.place,
        by_hand=engine.by_hand(folder),
        env={n: v for n, v in sorted(engine.env.items()) if n not in hidden and host.environ.get(n) != v},
        unset=tuple(sorted(set(host.environ) - set(engine.env))),
        values=inputs.values,
        secrets=secrets,
        waits=tuple(wait.reason for wait in inputs.waits),
    )


def _output(context: Context, reference: Reference) -> Output | Wait | None:
    """What is known of an output; that another stack can't be asked keeps nobody from working by hand."""
    try:
        return known_output(context, reference)
    except LedgerUnreachable as error:
        return Wait(reference, f"{reference} can't be asked for: {error.message}")


def _secrets(module: Module, inputs: ResolvedInputs, env: Mapping[str, str]) -> Iterator[Secret]:
    for name, kept in inputs.recorded.items():
        if kept.sensitive:
            yield _secret(module, name, kept.reference)
    for name in sorted(module.env):
        if SECRET_NAME.search(name) and name in env:
            yield Secret(name, f"the `env` of module {module.name} in the manifest")


def _secret(module: Module, name: str, reference: str) -> Secret:
    variable = f"{TF_VAR}{name}"
    match module.inputs.get(name):
        case FromEnv(source):
            return Secret(variable, reference, from_env=source)
        case FromFile(path):
            return Secret(variable, reference, from_file=path)
    return Secret(variable, reference)
