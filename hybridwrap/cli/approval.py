"""Asks about plans: once for all that are ready together, or one by one."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from math import inf
from types import FrameType

import click

from hybridwrap.cli.teller import Teller
from hybridwrap.counting import first_of
from hybridwrap.domain.limits import over_limit
from hybridwrap.errors import UsageError
from hybridwrap.run.preparation import Prepared
from hybridwrap.run.stop import Stop
from hybridwrap.run.walk import Approve

LOOK = {"apply": "hybridwrap plan", "destroy": "hybridwrap plan --destroy", "resume": "hybridwrap status"}
ANSWERS = ("yes", "no", "one by one")
AT_ONCE = 0.001  # seconds: none would be never
NAMED = 12  # modules that a question names


def approval(
    command: str = "apply", *, auto_approve: bool, as_json: bool, yes_destroy: int | None = None
) -> Approve | None:
    """Choose who approves: nobody has to, or the person at the terminal. Raise UsageError when nobody is there."""
    if auto_approve:
        return None
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "nobody can be asked to approve here: there is no terminal" if not as_json else "--json asks nobody",
            hint=f"{LOOK[command]}    to look, then: hybridwrap {command} --auto-approve",
        )

    def ask_twice(plans: Sequence[Prepared]) -> frozenset[str]:
        return beyond_guard_by_name(plans, ask(plans, command.capitalize()), yes_destroy)

    return ask_twice


def undisturbed(approve: Approve | None, watch: Teller, stop: Stop) -> Approve | None:
    """Let whoever tells of the run keep silent during a question.

    A signal, the end of the input and the end of the run's time are a no.
    """
    if approve is None:
        return None

    def approve_in_silence(plans: Sequence[Prepared]) -> frozenset[str]:
        with watch.paused(), _signals_end_the_question(), _time_ends_the_question(stop.seconds_left):
            try:
                return approve(plans)
            except (click.Abort, KeyboardInterrupt, OSError):  # OSError: the terminal is gone
                with suppress(OSError):
                    click.echo()
                return frozenset()

    return approve_in_silence


@contextmanager
def _signals_end_the_question() -> Iterator[None]:
    """Let a signal end the wait for an answer; afterwards it goes to whoever takes signals outside."""
    came: list[int] = []

    def leave(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        raise KeyboardInterrupt

    before = [(number, signal.signal(number, leave)) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
        for name in came:
            signal.raise_signal(name)


@contextmanager
def _time_ends_the_question(seconds: float) -> Iterator[None]:
    if seconds == inf:
        yield
        return
    before = signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, AT_ONCE))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def beyond_guard_by_name(
    plans: Sequence[Prepared], approved: frozenset[str], yes_destroy: int | None
) -> frozenset[str]:
    """Have every approved plan that goes beyond its guard approved once more, by the name of its module."""
    refused = set()
    for prepared in plans:
        name, guard = prepared.module.name, prepared.module.guard
        if name in approved and (beyond := over_limit(guard, prepared.actions, yes_destroy)):
            click.secho(f"\n{name} {beyond}", fg="red")
            if click.prompt("Type its name to go on", default="", show_default=False).strip() != name:
                refused.add(name)
    return approved - refused


def ask(plans: Sequence[Prepared], verb: str = "Apply") -> frozenset[str]:
    """Show plans that are ready together; say which are approved."""
    from hybridwrap.cli.plans import plan_text

    for prepared in plans:
        click.echo(plan_text(prepared))
    names = [prepared.module.name for prepared in plans]
    if len(names) == 1:
        return frozenset(names if click.confirm(f"\n{verb} {names[0]}?") else ())
    answer = click.prompt(
        f"\n{verb} these {len(names)}: {first_of(names, NAMED)}? [yes, no, one by one]", value_proc=_answer
    )
    if answer == "one by one":
        return frozenset(name for name in names if click.confirm(f"{verb} {name}?"))
    return frozenset(names if answer == "yes" else ())


def _answer(typed: str) -> str:
    """Understand an answer by its beginning."""
    said = typed.strip().lower()
    found = [answer for answer in ANSWERS if said and answer.startswith(said)]
    if not found:
        raise click.UsageError(f"answer {', '.join(ANSWERS)}")
    return found[0]
