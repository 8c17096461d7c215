"""What is to fail in a rehearsal, and what was seen in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from hybridwrap.domain.families import did_you_mean
from hybridwrap.domain.graph import order, reach, reversed_edges
from hybridwrap.domain.stack import Module
from hybridwrap.errors import UsageError

COMMANDS = ("apply", "destroy")


class Failure(Struct, frozen=True):
    """A command on a module that ends half-way: by an error, or as hybridwrap and its engine are killed."""

    module: str
    command: str
    kill: bool = False


def read_failure(text: str, *, kill: bool) -> Failure:
    """Read MODULE, MODULE:apply or MODULE:destroy. Raise UsageError."""
    module, _, command = text.partition(":")
    if command and command not in COMMANDS:
        raise UsageError(f"{text}: a module fails in apply or destroy, not in {command}")
    return Failure(module, command or "apply", kill)


def left_standing(modules: Mapping[str, Module]) -> frozenset[str]:
    """What no teardown touches: protected modules, and what they need."""
    kept = {name for name, module in modules.items() if module.protected}
    return frozenset(kept | reach({name: module.needs for name, module in modules.items()}, kept))


def torn_down(modules: Mapping[str, Module]) -> frozenset[str]:
    """Those whose own engine a teardown of all starts: others stay, or go with their owner."""
    standing = left_standing(modules)
    return frozenset(n for n, m in modules.items() if n not in standing and not m.owner and m.on_destroy == "destroy")


def telling_failures(modules: Mapping[str, Module]) -> tuple[Failure, ...]:
    """Choose where nobody did: one module fails up and down, that with most others behind it and some before it."""
    needs = {name: module.needs for name, module in modules.items()}
    behind = reversed_edges(needs)
    ends = torn_down(modules)

    def weight(name: str) -> tuple[bool, bool, int]:
        dependants = len(reach(behind, [name]))
        return name in ends, bool(needs[name]) and dependants > 0, dependants

    chosen = max(order(needs), key=weight, default="")
    commands = COMMANDS if chosen in ends else COMMANDS[:1]
    return tuple(Failure(chosen, command) for command in commands) if chosen else ()


def refuse_impossible(modules: Mapping[str, Module], failures: Sequence[Failure]) -> None:
    """Raise UsageError for what can't come to happen in these modules."""
    ends = torn_down(modules)
    for failure in failures:
        name = failure.module
        if name not in modules:
            raise UsageError(f"{name} is not rehearsed{did_you_mean(name, modules)}", hint="hybridwrap list")
        if failure.command == "destroy" and name not in ends:
            raise UsageError(f"no teardown starts the engine of {name}: it stays, or goes with its owner")
    places = [(failure.module, failure.command) for failure in failures]
    if twice := next((place for place in places if places.count(place) > 1), None):
        raise UsageError(f"{twice[0]} can't fail twice in one {twice[1]}")


class Typed(Struct, frozen=True):
    """How a command ended; where failures of it are kills that came to happen, its exit code says nothing."""

    exit_code: int
    killed: tuple[Failure, ...] = ()


class Seen(Struct, frozen=True):
    """What lies in the copy besides its ledger: when each operation's engine began, and what the states are."""

    engines: Mapping[str, str]  # operation -> RFC 3339
    states: str  # digest of all


class Refusal(Struct, frozen=True):
    """A command that was called while the ledger could not be reached."""

    exit_code: int
    before: Seen
    after: Seen
