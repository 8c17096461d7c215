"""`hybridwrap exec`."""

from __future__ import annotations

import os
import sys

import click

from hybridwrap.cli.completing import offer_modules
from hybridwrap.cli.options import Place, stack_options, words_after_dashes
from hybridwrap.cli.running import aside, reading_job
from hybridwrap.cli.variables import Variables
from hybridwrap.errors import UsageError
from hybridwrap.run.context import Options
from hybridwrap.run.program import Surroundings, refuse_engine, surroundings
from hybridwrap.run.selection import Selection


@click.command("exec", options_metavar="[OPTIONS] MODULE -- PROGRAM…")
@stack_options
@click.argument("module", metavar="", required=False, shell_complete=offer_modules)
def command(place: Place, module: str | None) -> int:
    """Run any program in a module's folder, with its environment.

    It gets what the module's engine would: variables, credentials, the inputs as TF_VAR_…, secrets too. It takes the
    place of hybridwrap: signals and exit code are its own, and nothing is recorded. An engine is run by `tf`.
    """
    argv = words_after_dashes()
    if module is None or not argv:
        missing = "program" if module else "module"
        raise UsageError(f"no {missing} is named", hint=f"hybridwrap exec {module or 'MODULE'} -- PROGRAM")
    refuse_engine(module, argv)
    job = reading_job(place, Selection((module,), families=False), Variables(), parallelism=1)
    return _become(argv, surroundings(aside(job.workshop, Options(), job.knowledge.records), module))


def _become(argv: tuple[str, ...], place: Surroundings) -> int:
    """Never returns: the program takes this process over. Raise UsageError when it can't be started."""
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.chdir(place.folder)
        os.execvpe(argv[0], argv, dict(place.env))  # noqa: S606 - no shell, and the caller chose the program
    except OSError as error:
        raise UsageError(f"{argv[0]} can't be run in {place.folder}: {error.strerror}", hint="") from error
