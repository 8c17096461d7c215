"""What any program gets that is to work on a module as its engine does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from hybridwrap.domain.inputs import TF_VAR
from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.errors import PreflightRefused, UsageError
from hybridwrap.run.by_hand import OURS_ALONE
from hybridwrap.run.context import Context
from hybridwrap.run.identity import take_identity
from hybridwrap.run.needs import resolve

ENGINES = frozenset({"terraform", "tofu"})


class Surroundings(Struct, frozen=True):
    folder: Path
    env: Mapping[str, str]  # with secrets


def refuse_engine(module: str, argv: tuple[str, ...]) -> None:
    """Raise UsageError for an engine: it would act past the ledger."""
    if Path(argv[0]).name in ENGINES:
        words = " ".join(argv[1:]) or "COMMAND"
        raise UsageError(f"{argv[0]} is not run past the ledger", hint=f"hybridwrap tf {module} -- {words}")


def surroundings(context: Context, name: str) -> Surroundings:
    """Find out where a module's engine works and with what: environment, credentials, inputs as TF_VAR_.

    Raise EngineNotUsable, CredentialsRefused.
    """
    module = context.tools.stack.modules[name]
    values = _values(context, name)
    engine = context.tools.engines.at(module, values)
    take_identity(context, module, engine)
    stack = context.tools.stack
    ours = {"HYBRIDWRAP_STACK": stack.name, "HYBRIDWRAP_ENVIRONMENT": stack.environment, "HYBRIDWRAP_MODULE": name}
    env = {variable: text for variable, text in engine.whole_env().items() if variable not in OURS_ALONE}
    return Surroundings(module.source, env | {TF_VAR + each: _text(value) for each, value in values.items()} | ours)


def _values(context: Context, name: str) -> Mapping[str, Json]:
    """The inputs where all of them are to be had; many a program does without."""
    try:
        inputs = resolve(context, name)
    except PreflightRefused as error:
        context.watch.warning(name, f"without its inputs: {error.message}")
        return {}
    if isinstance(inputs, ModuleEnd):
        context.watch.warning(name, f"without its inputs: {inputs.reason}")
        return {}
    return inputs.values


def _text(value: Json) -> str:
    return value if isinstance(value, str) else canonical(value).decode()
