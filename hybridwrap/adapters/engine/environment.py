"""The environment of an engine's processes: the caller's, with the module's own on top, without what would mislead it.

Whatever is not named here is passed on as it is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from hybridwrap.adapters.engine.programs import NAMES
from hybridwrap.domain.entry import EngineIdentity
from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.stack import Module
from hybridwrap.errors import PreflightRefused

# why each is not passed on: options come from the manifest or the command line, never from outside
_REMOVED = {
    "TF_DATA_DIR": "every module has a data folder of its own",
    "TF_INPUT": "the engine is never asked to prompt",
    "TF_STATE_PERSIST_INTERVAL": "it crashes OpenTofu, and Terraform ignores it",
}
_REMOVED_PREFIX = "TF_CLI_ARGS"
_ALWAYS = {"CHECKPOINT_DISABLE": "1"}
_UNLESS_SET = {"TF_IN_AUTOMATION": "1"}


def engine_environment(caller: Mapping[str, str], module: Module) -> tuple[dict[str, str], tuple[str, ...]]:
    """Make the environment for a module's engine; return it with what has to be said about it."""
    given = {**_UNLESS_SET, **caller, **module.env}
    removed = {name: why for name in sorted(given) if (why := _why_removed(name))}
    env = {name: value for name, value in given.items() if name not in removed} | _ALWAYS
    warnings = [f"{name} is not passed on to the engine: {why}" for name, why in removed.items()]
    configuration = env.get("TF_CLI_CONFIG_FILE")
    if configuration and not Path(configuration).exists():
        # the engine would say so in between its own JSON
        env["TF_CLI_CONFIG_FILE"] = os.devnull
        warnings.append(f"TF_CLI_CONFIG_FILE names {configuration}, which is not there; an empty one is used")
    return env, tuple(warnings)


def refuse_misleading(env: Mapping[str, str], module: Module, identity: EngineIdentity) -> None:
    """Raise PreflightRefused for variables that would make the engine work on something else than the manifest says."""
    workspace = module.workspace or "default"
    found = env.get("TF_WORKSPACE") or workspace
    if found != workspace:
        raise PreflightRefused(
            f'TF_WORKSPACE is {found!r}, but module "{module.name}" is in workspace {workspace!r}',
            hint=f"unset TF_WORKSPACE, or write `workspace: {found}` into the module's manifest entry",
        )
    if env.get("TF_ENCRYPTION") and identity.product == "terraform":
        raise PreflightRefused(
            f'TF_ENCRYPTION is set, but module "{module.name}" is run by {NAMES[identity.product]}, '
            "which ignores it and would store the state in plain text",
            hint="use OpenTofu for this module, or unset TF_ENCRYPTION",
        )


def constant_variables(module: Module, inputs: Mapping[str, Json]) -> dict[str, str]:
    """TF_VAR_… for the variables that must have a value in commands that take no var-file."""
    wanted = {
        name: inputs[name] for name, variable in module.interface.variables.items() if variable.const and name in inputs
    }
    return {f"TF_VAR_{name}": _text(value) for name, value in wanted.items()}


def _text(value: Json) -> str:
    return value if isinstance(value, str) else canonical(value).decode()


def _why_removed(name: str) -> str | None:
    if name.startswith(_REMOVED_PREFIX):
        return "say options after `--`, or in the manifest"
    return _REMOVED.get(name)
