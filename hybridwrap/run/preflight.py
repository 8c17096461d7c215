"""What can be known wrong on this host before any module is begun: said for all modules at once."""

from __future__ import annotations

from collections.abc import Sequence

from hybridwrap.domain.inputs import host_problems
from hybridwrap.domain.stack import Module
from hybridwrap.errors import EngineNotUsable, InvalidManifest, PreflightRefused
from hybridwrap.run.context import Tools


def check_host(tools: Tools, modules: Sequence[str]) -> None:
    """Raise PreflightRefused with every input of these modules that can't be had here."""
    problems = [problem for name in modules for problem in host_problems(tools.stack.modules[name], tools.host)]
    if problems:
        raise PreflightRefused("\n".join([*problems, "nothing was run"]), hint="set them, then the same command again")


def check_engines(tools: Tools, modules: Sequence[str]) -> None:
    """Raise EngineNotUsable with every module that wants another version, before those that come first are applied."""
    wanted = [tools.stack.modules[name] for name in modules]
    refused = [_why_unfit(tools, m) for m in wanted if m.engine.version or m.interface.required_version]
    if why := [error for error in refused if error]:
        raise EngineNotUsable("\n".join([*(error.message for error in why), "nothing was run"]), hint=why[0].hint)


def _why_unfit(tools: Tools, module: Module) -> EngineNotUsable | None:
    try:
        tools.engines.at(module)
    except EngineNotUsable as error:
        return error
    except (InvalidManifest, PreflightRefused):
        return None  # said in the module's turn: the others do not depend on it
    return None


def check_hooks(tools: Tools, modules: Sequence[str]) -> None:
    """Raise PreflightRefused for every hook whose program is not here: when an operation has ended it is too late."""
    if problems := missing_hooks(tools, modules):
        raise PreflightRefused(
            "\n".join([*problems, "nothing was run"]), hint="put it there, then the same command again"
        )


def missing_hooks(tools: Tools, modules: Sequence[str]) -> tuple[str, ...]:
    """Say which programs of hooks are not on this host, and which field of the manifest names them."""
    missing = [("hooks", tools.hooks.why_not(hook, None)) for hook in tools.stack.hooks.all]
    for module in (tools.stack.modules[name] for name in modules if name in tools.stack.modules):
        where = f"modules.{module.name}.hooks"
        missing += [(where, tools.hooks.why_not(hook, module)) for hook in module.hooks.all]
    return tuple(dict.fromkeys(f"{where}: {why}" for where, why in missing if why))
