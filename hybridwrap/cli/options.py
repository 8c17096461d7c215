"""Options that several commands share, each written once, and what they mean."""

from __future__ import annotations

import functools
import os
import shutil
import sys
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import click
from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.cli.completing import offer_environments, offer_modules
from hybridwrap.cli.variables import read_variables
from hybridwrap.domain.ci import in_ci as runs_in_ci
from hybridwrap.domain.duration import seconds_in
from hybridwrap.domain.ports import PlanOptions
from hybridwrap.domain.status import Status
from hybridwrap.errors import UsageError
from hybridwrap.run.context import PARALLELISM, Patience
from hybridwrap.run.selection import Selection

Command = Callable[..., Any]
TRACEBACKS = 2  # -vv
SELECTING = ("with_dependencies", "with_dependents", "exclude", "tags", "changed", "unapplied")
REFUSED = ("-destroy", "-out", "-json", "-state", "-backend", "-input", "-auto-approve")  # after `--`


class Place(Struct, frozen=True):
    """Which manifest and which environment; or which ledger, without a manifest."""

    manifest: Path | None
    environment: str | None
    ledger: str = ""
    stack: str | None = None  # in that ledger


NOWHERE = Place(None, None)  # nothing was said
PLACE_KEY = "hybridwrap.place"  # of click's context, where errors find it


class Telling(Struct, frozen=True):
    """How a run is told: to whom, and how much of it."""

    as_json: bool = False
    plain: bool = False
    verbosity: int = 0  # -1 quiet, 1 each object that is done, 2 each step

    @property
    def at_a_terminal(self) -> bool:
        """Whether lines may be rewritten: only where a person looks at them."""
        wanted = not self.plain and self.verbosity >= 0
        return wanted and sys.stdout.isatty() and not in_ci() and os.environ.get("TERM") != "dumb"


def terminal_width(*, err: bool = False) -> int:
    """Columns of the terminal, 0 when what is printed goes to a program: then nothing is cut."""
    if err:
        return shutil.get_terminal_size(os.get_terminal_size(sys.stderr.fileno())).columns if sys.stderr.isatty() else 0
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def in_ci() -> bool:
    return runs_in_ci(os.environ)


def stack_options(command: Command) -> Command:
    """Add -f and -e; the command gets them as one `place`."""

    @click.option(
        "-f",
        "--file",
        "manifest",
        type=click.Path(path_type=Path),
        help="The manifest; else hybridwrap.yaml here or in a folder above.",
    )
    @click.option(
        "-e",
        "--environment",
        envvar="HYBRIDWRAP_ENVIRONMENT",
        shell_complete=offer_environments,
        help="Which environment, where several are declared.",
    )
    @functools.wraps(command)
    def with_place(manifest: Path | None, environment: str | None, **rest: Any) -> Any:
        place = Place(manifest, environment)
        click.get_current_context().meta[PLACE_KEY] = place
        return command(place=place, **rest)

    return with_place


def reading_options(command: Command) -> Command:
    """Add those of a stack, and --ledger for one without a manifest; the command gets them as one `place`."""

    @stack_options
    @click.option(
        "--ledger",
        metavar="PLACE",
        default="",
        help="No manifest: read this ledger, s3://BUCKET/PREFIX or a folder.",
    )
    @click.option("--stack", metavar="NAME", help="Which stack, where that ledger has several.")
    @functools.wraps(command)
    def with_ledger(place: Place, ledger: str, stack: str | None, **rest: Any) -> Any:
        if stack and not ledger:
            raise UsageError("--stack is for --ledger: a manifest has one stack")
        if ledger and place.manifest:
            raise UsageError("-f and --ledger contradict each other: with a ledger no manifest is read")
        place = replace(place, ledger=ledger, stack=stack)
        click.get_current_context().meta[PLACE_KEY] = place
        return command(place=place, **rest)

    return with_ledger


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")


def telling_options(command: Command) -> Command:
    """Add how a run is told; the command gets one `telling`."""

    @click.option("--json", "as_json", is_flag=True, help="Print a JSON event per line on stdout.")
    @click.option(
        "--log-format",
        type=click.Choice(["auto", "plain", "json"]),
        default="auto",
        show_default=True,
        help="plain: lines that stay, as without a terminal. json: as --json.",
    )
    @click.option("-q", "--quiet", is_flag=True, help="Say only what went wrong, and the last lines.")
    @click.option("-v", "--verbose", count=True, help="Also each object that is done; -vv: each step, and tracebacks.")
    @functools.wraps(command)
    def with_telling(as_json: bool, log_format: str, quiet: bool, verbose: int, **rest: Any) -> Any:
        if quiet and verbose:
            raise UsageError("--quiet and --verbose contradict each other")
        verbosity = -1 if quiet else min(verbose, TRACEBACKS)
        if verbosity == TRACEBACKS:
            import logging

            logging.basicConfig()
            logging.getLogger("hybridwrap").setLevel(logging.DEBUG)
        telling = Telling(as_json or log_format == "json", log_format == "plain", verbosity)
        return command(telling=telling, **rest)

    return with_telling


parallelism_option = click.option(
    "--parallelism",
    type=click.IntRange(min=1),
    default=PARALLELISM,
    show_default=True,
    help="Modules at work at a time.",
)


def in_seconds(_ctx: click.Context, _param: click.Parameter, text: str | None) -> float:
    """Read a span of time; none said is for ever."""
    try:
        return inf if text is None else seconds_in(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


timeout_option = click.option(
    "--timeout",
    "timeout_seconds",
    callback=in_seconds,
    metavar="DURATION",
    help="Then start nothing more and end the engines gracefully: 50m, 1h30m. Choose less than your CI allows.",
)


def _named_run(_: click.Context, __: click.Parameter, name: str | None) -> str | None:
    """Refuse an empty name, as a variable that is not set leaves one: nothing else may be done instead."""
    if name is not None and not name.strip():
        raise UsageError("--run names no run: its value is empty", hint="hybridwrap history")
    return name


run_option = click.option(
    "--run",
    "saved_run",
    metavar="RUN",
    callback=_named_run,
    help="Carry out the plans that `plan --save` kept, and ask nobody.",
)


skip_option = click.option(
    "--skip-unchanged",
    "max_age_seconds",
    metavar="[=MAX_AGE]",
    callback=lambda context, option, text: text and in_seconds(context, option, None if text == "forever" else text),
    help="No plan for modules whose inputs, files and engine are as at their last plan, unless that is older (24h).",
)


def wait_option(command: Command) -> Command:
    """Add how long a module is waited for that somebody holds; the command gets one `patience`."""

    @click.option(
        "--wait",
        "wait_seconds",
        default="0",
        metavar="[=DURATION]",
        callback=lambda context, option, text: in_seconds(context, option, None if text == "forever" else text),
        help="Wait for a module that another hybridwrap is at work on; without a time, for as long as it takes.",
    )
    @functools.wraps(command)
    def with_patience(wait_seconds: float, **rest: Any) -> Any:
        return command(patience=Patience(wait_seconds, offered=True), **rest)

    return with_patience


def wait_options(command: Command) -> Command:
    """Add also not to wait for an engine that is left alone, for those that finish what one leaves."""

    @wait_option
    @click.option("--no-wait", is_flag=True, help="Not even for an engine whose own hybridwrap was killed.")
    @functools.wraps(command)
    def with_patience(patience: Patience, no_wait: bool, **rest: Any) -> Any:
        return command(patience=replace(patience, for_engine=not no_wait), **rest)

    return with_patience


def selection_options(command: Command) -> Command:
    """Add module names and what narrows or widens them; the command gets one `selection`."""

    @click.argument("modules", nargs=-1, shell_complete=offer_modules)
    @click.option("--with-dependencies", is_flag=True, help="Also the modules that these need.")
    @click.option("--with-dependents", is_flag=True, help="Also the modules that need these.")
    @click.option("--exclude", multiple=True, metavar="MODULE", help="Leave a module out.")
    @click.option("--tag", "tags", multiple=True, help="Only modules with one of these tags.")
    @click.option(
        "--changed",
        metavar="[=REF]",
        help="Only what has changed since a commit: REF, or where this branch left the default one.",
    )
    @click.option("--unapplied", is_flag=True, help="Only modules that are not as they were last applied.")
    @click.option(
        "--status", "statuses", multiple=True, type=click.Choice([*map(str, Status)]), help="Only with one of these."
    )
    @functools.wraps(command)
    def with_selection(modules: tuple[str, ...], **rest: Any) -> Any:
        said = {name: rest.pop(name) for name in SELECTING}
        statuses = tuple(map(Status, rest.pop("statuses")))
        return command(selection=Selection(modules, **said, statuses=statuses, folder=Path.cwd()), **rest)

    return with_selection


def variable_options(command: Command) -> Command:
    """Add values that beat the manifest's; the command gets one `variables`."""

    @click.option("-var", "--var", "settings", multiple=True, metavar="NAME=VALUE", help="As the engine's -var.")
    @click.option(
        "-var-file",
        "--var-file",
        "var_files",
        multiple=True,
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="As the engine's -var-file.",
    )
    @functools.wraps(command)
    def with_variables(settings: tuple[str, ...], var_files: tuple[Path, ...], **rest: Any) -> Any:
        return command(variables=read_variables(settings, var_files), **rest)

    return with_variables


def plan_options(command: Command) -> Command:
    """Add the engine's own options for a plan; the command gets `plan` and `variables`."""

    @click.option("-target", "--target", "targets", multiple=True, metavar="ADDRESS", help="As the engine's -target.")
    @click.option("-replace", "--replace", multiple=True, metavar="ADDRESS", help="As the engine's -replace.")
    @click.option("-refresh", "--refresh", type=bool, default=True, help="As the engine's -refresh=false.")
    @click.option("-refresh-only", "--refresh-only", is_flag=True, help="As the engine's -refresh-only.")
    @variable_options
    @click.option("-lock-timeout", "--lock-timeout", default="", metavar="DURATION", help="As the engine's.")
    @functools.wraps(command)
    def with_plan(**rest: Any) -> Any:
        said = {name: rest.pop(name) for name in ("targets", "replace", "refresh", "refresh_only", "lock_timeout")}
        plan = PlanOptions(**said, extra=fit_for_plan(words_after_dashes()))
        return command(plan=plan, **rest)

    return with_plan


def words_after_dashes() -> tuple[str, ...]:
    words: tuple[str, ...] = click.get_current_context().obj
    return words


def fit_for_plan(words: tuple[str, ...]) -> tuple[str, ...]:
    """Check the words after `--`, which go to the engine's plan as they are. Raise UsageError."""
    for word in words:
        name = "-" + word.lstrip("-")
        unlocked = name.startswith("-lock=") and name.partition("=")[2].lower() not in {"1", "t", "true"}
        if unlocked or name.partition("=")[0].startswith(REFUSED):
            raise UsageError(f"{word} can't be given to the engine's plan: it would break what the ledger records")
    return words
