"""Asks a module's own command for the credentials of its engine.

The command runs in the manifest's folder, in the environment of the module's engine. What it prints stays in memory.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

from hybridwrap.adapters.printed_credentials import Printed, read_credentials
from hybridwrap.adapters.user_command import Call, Finished, run_user_command
from hybridwrap.domain.ports import Clock
from hybridwrap.domain.stack import Module
from hybridwrap.errors import CredentialsRefused

LONGEST_LINE = 500  # characters of what the command says about its failure


def ask_for_credentials(
    module: Module,
    *,
    env: Mapping[str, str],
    folder: Path,
    names: Mapping[str, str],
    clock: Clock,
    stopped: Callable[[], bool],
) -> Printed:
    """Run the command of `credentials`. Raise CredentialsRefused, which never quotes what was printed on stdout.

    `names` are those of stack and environment; the command is told them, and the module's.
    """
    wish = module.credentials
    told = {f"HYBRIDWRAP_{name.upper()}": text for name, text in {**names, "module": module.name}.items()}
    finished = run_user_command(Call(wish.command, folder, {**env, **told}, wish.timeout_seconds, stopped), clock)
    if finished.exit_code != 0:
        raise _refused(module, _failure(finished))
    try:
        return read_credentials(finished.stdout, clock.now())
    except ValueError as error:
        raise _refused(module, str(error)) from error


def _refused(module: Module, why: str) -> CredentialsRefused:
    command = shlex.join(module.credentials.command)
    return CredentialsRefused(
        f"{module.name}: no credentials from `{command}`: {why}", hint="once it works: the same command again"
    )


def _failure(finished: Finished) -> str:
    lines = [line.strip() for line in finished.stderr.decode(errors="replace").splitlines() if line.strip()]
    return f"{finished}: {lines[-1][:LONGEST_LINE]}" if lines else str(finished)
