"""`hybridwrap verify`."""

from __future__ import annotations

import click

from hybridwrap.cli.options import (
    Place,
    Telling,
    parallelism_option,
    selection_options,
    stack_options,
    telling_options,
    wait_options,
)
from hybridwrap.cli.running import at_work, watcher
from hybridwrap.cli.teardown import teardown_job
from hybridwrap.cli.variables import Variables
from hybridwrap.domain.verdict import REASON
from hybridwrap.errors import UsageError
from hybridwrap.run.context import Options, Patience
from hybridwrap.run.owned import finish_owned
from hybridwrap.run.selection import Selection
from hybridwrap.run.verification import verify


@click.command("verify")
@stack_options
@selection_options
@click.option("--orphan", "orphans", multiple=True, metavar="NAME", help="A module that the manifest has no more.")
@click.option("--gone", is_flag=True, help="Your word: you have looked, and nothing of it is there.")
@click.option("--reason", default="", metavar="TEXT", help="With --gone: how you know; kept in the ledger.")
@parallelism_option
@wait_options
@telling_options
def command(
    place: Place,
    selection: Selection,
    orphans: tuple[str, ...],
    gone: bool,
    reason: str,
    parallelism: int,
    patience: Patience,
    telling: Telling,
) -> int:
    """Look again whether modules are gone that were torn down.

    Reads the engine's state, and asks those whom the manifest's `verify` names. What is seen is recorded. Exit code 4
    when something is there, or nobody could look. Where nobody else can, --gone --reason TEXT is your word that you
    have looked: it stands for those who could not, and overrules neither the state nor who saw something.
    """
    word = _word(reason, gone=gone, named=bool(selection.names or orphans))
    job = teardown_job(place, selection, orphans, Variables(), parallelism=parallelism)
    watch = watcher(job, telling)
    with at_work(job, Options(parallelism=parallelism, patience=patience), watch) as context:
        end = verify(context, job.modules, word)
        finish_owned(context)
    watch.run_ended(end, {})
    return end.exit_code


def _word(reason: str, *, gone: bool, named: bool) -> str:
    if gone != bool(reason):
        raise UsageError("--gone and --reason go together: how do you know?")
    if gone and reason.strip() in ("", REASON):
        raise UsageError("your word needs a --reason in your own words: how do you know?")
    if gone and not named:
        raise UsageError("--gone is about modules that you name")
    return reason.strip()
