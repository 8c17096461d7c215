"""The entry point: commands are loaded when they are called, every ending has its exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from itertools import pairwise
from typing import Any, NoReturn

import click

from hybridwrap import __version__
from hybridwrap.cli.streams import let_go, open_missing
from hybridwrap.errors import HybridwrapError, ReaderGone, UsageError, as_told

GROUPS = {  # as the README has them
    "Everyday": {
        "plan": "Show what apply would do.",
        "apply": "Plan and apply modules in the order of their graph.",
        "destroy": "Destroy modules, dependants first, and see that they are gone.",
        "output": "Show outputs, each with where its value comes from.",
        "validate": "Check the manifest and its modules; run nothing.",
        "init": "Initialise the engine in each module.",
        "tf": "Run any engine command in a module.",
        "exec": "Run any program in a module's folder, with its environment.",
    },
    "Seeing": {
        "status": "Show where each module stands.",
        "why": "Say why a module is pending, in error or unknown.",
        "graph": "Show the graph of the stack, with the statuses.",
        "list": "List the modules of the stack, in order.",
        "history": "List the runs, newest first.",
        "show": "Show one run.",
        "diff": "Show what is different between two runs.",
        "report": "Report on one run, for people, CI systems and programs.",
        "drift": "Look whether real objects are as the engine's states say.",
        "drift accept": "Accept recorded drift until a day, or not any more.",
        "render": "Show a module as the engine would get it.",
        "commands": "Print the engine's command lines for a module: the way on without hybridwrap.",
    },
    "Repairing": {
        "resume": "Go on with a run that failed, was interrupted or killed.",
        "reconcile": "Say what became of modules, how that is known, and what to type next.",
        "sync": "Finish what killed runs left on this host.",
        "unlock": "Show who holds a module, or free it on your word.",
        "verify": "Look again whether modules are gone that were torn down.",
        "orphans": "List modules that the ledger knows and the manifest has no more.",
        "retain": "Leave modules alive for good.",
        "ledger": "Look after the ledger itself.",
    },
    "Setting up": {
        "new": "Write a manifest for root modules that exist.",
        "adopt": "Take a state that exists into the ledger.",
        "mv": "Give a module of the ledger the name that it has in the manifest now.",
        "rehearse": "Play a failure drill on a copy of the stack, and see that the rules hold.",
        "doctor": "Look whether machine, engines and bucket are fit for work.",
        "bootstrap": "Make the bucket for states and ledger, or compare it with how it should be.",
        "pipeline": "Write a pipeline for a CI system from the graph.",
        "lock": "Write the providers' checksums for all platforms into the modules' lock files.",
        "schema": "Print a JSON Schema, for editors and programs.",
        "completion": "Print the completion script of a shell.",
    },
}
COMMANDS = {name: told for group in GROUPS.values() for name, told in group.items()}
TAKE_WORDS = frozenset({"apply", "destroy", "exec", "plan", "tf"})  # words after `--` are for somebody else
# Click would take the next word for the value that was left out.
WITHOUT_VALUE = {"--wait": "--wait=forever", "--skip-unchanged": "--skip-unchanged=forever", "--changed": "--changed="}
# Outputs of megabytes are trees of many small objects, which are no garbage: looking for some among them costs more
# than all the rest (measured: to record 3 MB took 2.6 s, now 0.7 s).
GARBAGE_THRESHOLDS = (20_000, 50, 100)
INTERRUPTED = 130
WRONG_USAGE = 64


class LazyGroup(click.Group):
    """Commands are modules of this package with the same name, imported when called; a name may be of two words."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"hybridwrap.cli.commands.{cmd_name.replace(' ', '_')}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if (two_words := " ".join(args[:2])) in COMMANDS:
            args = [two_words, *args[2:]]
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            from hybridwrap.cli.mistakes import command_meant

            raise UsageError(f'there is no command "{args[0]}"', hint=command_meant(args, COMMANDS) or None)
        if ctx.obj and args and args[0] not in TAKE_WORDS:
            raise UsageError(f"`{args[0]}` takes no words after `--`", hint=f"hybridwrap {args[0]} --help")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; its errors say what to type for the manifest and environment that it was about."""
        try:
            return super().invoke(ctx)
        except HybridwrapError as error:
            from hybridwrap.cli.hints import as_typed, place_of_call

            if error.hint == UsageError.hint and ctx.invoked_subcommand:
                error.hint = f"hybridwrap {ctx.invoked_subcommand} --help"
            error.hint = as_typed(error.hint, place_of_call())
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), told) for name, told in commands.items()])

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run a command and exit with its code; `standalone_mode` has no other form here."""
        open_missing()
        gc.set_threshold(*GARBAGE_THRESHOLDS)
        extra.update(standalone_mode=False, prog_name="hybridwrap")
        argv, words = _split(args[0] if args else extra.pop("args", None) or sys.argv[1:])
        try:
            code = super().main(argv, obj=words, color=_colour(), **extra)
        except HybridwrapError as error:
            code = _report(error, argv)
        except click.UsageError as error:
            from hybridwrap.cli.mistakes import usage_meant

            told, hint = usage_meant(error, argv)
            code = _report(UsageError(told, hint=hint or _help_line(error.ctx)), argv)
        except click.Abort:
            code = INTERRUPTED
        except SystemExit:  # click's own answer to a pipe that nobody reads any more
            code = ReaderGone.exit_code
        except Exception as error:  # noqa: BLE001  # the outermost boundary: people get a line, not a traceback
            code = _report(as_told(error), argv)
        let_go()
        sys.exit(code if isinstance(code, int) else 0)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", prog_name="hybridwrap", message="%(prog)s %(version)s")
def main() -> None:
    """Run Terraform and OpenTofu stacks, and keep a record of what was done.

    hybridwrap runs the engine once per module, in the order of the graph, and keeps an operation ledger beside the
    engine's state: what was attempted, what is known, what never ran, what to do next.
    """


def _colour() -> bool | None:
    """False where colours are not wanted, or would be shown as letters; else it is left to click."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return False if plain else None


def _split(argv: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Tell our own words, optional values filled in, from those after `--`."""
    end = list(argv).index("--") if "--" in argv else len(argv)
    return [WITHOUT_VALUE.get(word, word) for word in argv[:end]], tuple(argv[end + 1 :])


def _report(error: HybridwrapError, argv: list[str]) -> int:
    if _is_for_programs(argv):
        from hybridwrap.domain.json import canonical

        line = {"type": "exit", "code": error.exit_code, "message": error.message, "hint": error.hint}
        with suppress(OSError):
            click.echo(canonical(line).decode(), err=True)
        return error.exit_code
    if "-vv" in argv:
        import traceback

        click.echo("".join(traceback.format_exception(error)), err=True)
    from hybridwrap.cli.wrapping import say

    with suppress(OSError):  # nobody may be there to be told
        say(error.message, err=True)
        if error.hint:
            say(f"next: {error.hint}", err=True)
    return error.exit_code


def _is_for_programs(argv: list[str]) -> bool:
    formats = {after for before, after in pairwise(argv) if before == "--log-format"}
    return "--json" in argv or "--log-format=json" in argv or "json" in formats


def _help_line(ctx: click.Context | None) -> str:
    return f"{ctx.command_path} --help" if ctx else "hybridwrap --help"
