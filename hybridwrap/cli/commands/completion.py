"""`hybridwrap completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from hybridwrap.errors import UsageError

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> int:
    """Print the completion script of a shell.

    For bash, in ~/.bashrc: eval "$(hybridwrap completion bash)"
    """
    found = get_completion_class(shell)
    group = click.get_current_context().find_root().command
    if found is None:
        raise UsageError(f"no completion for {shell}")
    click.echo(found(group, {}, "hybridwrap", "_HYBRIDWRAP_COMPLETE").source())
    return 0
