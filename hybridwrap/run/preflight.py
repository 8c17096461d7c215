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
