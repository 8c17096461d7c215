"""What can be known wrong on this host before any module is begun: said for all modules at once."""

from __future__ import annotations

from collections.abc import Sequence

from hybridwrap.domain.inputs import host_problems
from hybridwrap.errors import PreflightRefused
from hybridwrap.run.context import Tools


def check_host(tools: Tools, modules: Sequence[str]) -> None:
    """Raise PreflightRefused with every input of these modules that can't be had here."""
    problems = [problem for name in modules for problem in host_problems(tools.stack.modules[name], tools.host)]
    if problems:
        raise PreflightRefused("\n".join([*problems, "nothing was run"]), hint="set them, then the same command again")


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
