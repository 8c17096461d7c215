"""What to type next, for the manifest and the environment that the call was about."""

from __future__ import annotations

import re
import shlex
from functools import cache

import click

from hybridwrap.cli.options import NOWHERE, PLACE_KEY, Place

BY_LEDGER = frozenset({"diff", "graph", "history", "output", "reconcile", "report", "show", "status", "why"})
WITHOUT_PLACE = frozenset({"completion", "new"})


def place_of_call() -> Place:
    """What -f and -e, or its variable, said; to be asked in the thread of the command."""
    context = click.get_current_context(silent=True)
    place: Place = context.meta.get(PLACE_KEY, NOWHERE) if context else NOWHERE
    return place


def as_typed(text: str, place: Place) -> str:
    """Add -e and -f, as far as they were given, to each command of ours in a text: it must not act elsewhere."""
    if place == NOWHERE:
        return text

    def placed(found: re.Match[str]) -> str:
        return found["command"] + _missing(found["command"], found["rest"], place) + found["rest"]

    return _commands().sub(placed, text)


def _missing(command: str, rest: str, place: Place) -> str:
    """Options that the rest of a command line does not have yet; --help takes none."""
    said = set(rest.split())
    words: list[str] = []
    if place.environment and not said & {"-e", "--environment", "--help"}:
        words += ["-e", place.environment]
    if place.manifest and not said & {"-f", "--file", "--help"}:
        words += ["-f", str(place.manifest)]
    name = command.partition(" ")[2]
    writes = name == "reconcile" and any(word.startswith("--") for word in said)
    if place.ledger and name in BY_LEDGER and not writes and not said & {"--ledger", "--help"}:
        words += ["--ledger", place.ledger, *(["--stack", place.stack] if place.stack else [])]
    return " " + shlex.join(words) if words else ""


@cache
def _commands() -> re.Pattern[str]:
    from hybridwrap.cli.main import COMMANDS

    names = ["ledger verify", "ledger repair", *(name for name in COMMANDS if name not in WITHOUT_PLACE)]
    longest_first = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    # A command line ends with its line, or where a remark or another one follows.
    return re.compile(
        rf"(?P<command>\bhybridwrap (?:{longest_first})(?![\w-]))(?P<rest>(?:(?! {{3}}|;|\bhybridwrap ).)*)"
    )
