"""`python -m tools.cli_reference`: write docs/cli.md from the help of every command."""

from __future__ import annotations

from pathlib import Path

import click

from hybridwrap.cli.main import main as hybridwrap

FILE = Path(__file__).parents[1] / "docs" / "cli.md"
WIDTH = 100
HEAD = """# Commands

Written by `make docs` from `hybridwrap COMMAND --help`; a test keeps it current. What the exit codes mean:
[exit-codes.md](exit-codes.md).
"""


def reference() -> str:
    """Return the whole page."""
    group = click.Context(hybridwrap, info_name="hybridwrap", terminal_width=WIDTH, **hybridwrap.context_settings)
    sections = [_section("hybridwrap", hybridwrap.get_help(group))]
    for name in hybridwrap.list_commands(group):
        command = hybridwrap.get_command(group, name)
        if command is not None and not command.hidden:
            context = click.Context(command, parent=group, info_name=name, terminal_width=WIDTH)
            sections.append(_section(f"hybridwrap {name}", command.get_help(context)))
    return "\n".join([HEAD, *sections])


def _section(title: str, help_text: str) -> str:
    return f"## {title}\n\n```text\n{help_text.rstrip()}\n```\n"


if __name__ == "__main__":
    FILE.write_text(reference())
