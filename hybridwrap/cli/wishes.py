"""What `reconcile` may write: its options, and which of them make sense together."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from hybridwrap.domain.verdict import ID, REASON
from hybridwrap.errors import UsageError
from hybridwrap.run.reconcile import Wishes
from hybridwrap.run.words import Word

Command = Callable[..., Any]


def wish_options(command: Command) -> Command:
    """Add the options; the command gets them as one `wishes`."""

    @click.option("--apply-verdicts", is_flag=True, help="Record the verdicts that are certain.")
    @click.option("--push-state", is_flag=True, help="Put a state that was not saved back, if nothing is lost by it.")
    @click.option("--drop-state", is_flag=True, help="Give it up for the one in its place; a copy stays here.")
    @click.option("--accept-state", is_flag=True, help="Your word: the state that is there is right, though another.")
    @click.option("--import", "imports", is_flag=True, help="Take in what was made and is in no state, by its id.")
    @click.option("--id", "ids", multiple=True, metavar="ADDRESS=ID", help="With --import: an id that you found.")
    @click.option("--absent", multiple=True, metavar="ADDRESS", help="Your word: this open object does not exist.")
    @click.option("--absent-all", is_flag=True, help="Your word: none of those without an id, or not to be imported.")
    @click.option("--complete", multiple=True, metavar="ADDRESS", help="Your word: this one is as it should be.")
    @click.option("--reason", default="", metavar="TEXT", help="How you know; kept in the ledger.")
    @functools.wraps(command)
    def with_wishes(modules: tuple[str, ...], **said: Any) -> Any:
        word = Word(said.pop("absent"), said.pop("absent_all"), said.pop("complete"), said.pop("reason").strip())
        names = ("apply_verdicts", "push_state", "drop_state", "accept_state", "imports", "ids")
        wishes = Wishes(**{name: said.pop(name) for name in names}, word=word)
        _must_make_sense(wishes, modules)
        return command(modules=modules, wishes=wishes, **said)

    return with_wishes


def _must_make_sense(wishes: Wishes, modules: tuple[str, ...]) -> None:
    word = wishes.word
    acts = [wishes.push_state, wishes.drop_state, wishes.accept_state, wishes.imports, bool(word)]
    if sum(acts) > 1:
        raise UsageError("one repair after the other: each changes what the next one would see")
    if any(acts) and len(modules) != 1:
        raise UsageError("a repair is of one module: name it")
    if (word or wishes.drop_state or wishes.accept_state) and word.reason in ("", REASON):
        raise UsageError("your word needs a --reason in your own words: how do you know?")
    if wishes.ids and not wishes.imports:
        raise UsageError("--id goes with --import")
    if any(text.endswith(f"={ID}") for text in wishes.ids):
        raise UsageError(f"put the object's own id in the place of {ID}")
