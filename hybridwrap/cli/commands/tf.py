"""`hybridwrap tf`."""

from __future__ import annotations

import shlex

import click

from hybridwrap.cli.completing import offer_modules
from hybridwrap.cli.options import Place, Telling, stack_options, wait_options, words_after_dashes
from hybridwrap.cli.running import at_work, reading_job, watcher, writing_job
from hybridwrap.cli.variables import Variables
from hybridwrap.errors import UsageError
from hybridwrap.run.context import Options, Patience
from hybridwrap.run.engine_command import reads_only, run_changing, run_reading
from hybridwrap.run.selection import Selection


@click.command("tf", options_metavar="[OPTIONS] MODULE -- COMMAND…")
@stack_options
@click.argument("module", metavar="", required=False, shell_complete=offer_modules)
@wait_options
def command(place: Place, module: str | None, patience: Patience) -> int:
    """Run any engine command in a module.

    It gets the module's environment, variables and state. Commands that read run as they are, and end with the engine's
    own exit code. Those that can change the state (import, state mv, taint, …) are recorded as an operation, and end
    with the codes of hybridwrap: 4 when the engine failed. apply, destroy and init have commands of their own here.
    """
    words = words_after_dashes()
    if module is None:
        raise UsageError("no module is named", hint=f"hybridwrap tf MODULE -- {shlex.join(words)}")
    reads = reads_only(module, words)
    get_ready = reading_job if reads else writing_job
    job = get_ready(place, Selection((module,), families=False), Variables(), parallelism=1)
    watch = watcher(job, Telling(plain=True, verbosity=-1))  # the terminal is the engine's
    with at_work(job, Options(parallelism=1, patience=patience), watch) as context:
        return (run_reading if reads else run_changing)(context, module, words)
