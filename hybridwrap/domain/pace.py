"""How long modules take: as earlier runs have it, along the longest chain, and until all is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from hybridwrap.domain.graph import Needs, order
from hybridwrap.domain.run import Run

DONE = frozenset({"ok", "unchanged", "destroyed", "planned"})
SAME_WORK = {"resume": "apply"}


def usual_seconds(runs: Sequence[Run], command: str) -> dict[str, float]:
    """Say how long each module took when the command last went well for it; `runs` are the newest first."""
    found: dict[str, float] = {}
    for run in runs:
        if _work(run.start.command) != _work(command):
            continue
        for module, end in run.ends.items():
            if end.result in DONE and end.seconds:
                found.setdefault(module, end.seconds)
    return found


def _work(command: str) -> str:
    return SAME_WORK.get(command, command)


def for_each(needs: Needs, seconds: Mapping[str, float]) -> dict[str, float]:
    """Give every name a duration: one that has none takes as long as most do, or 1 when nothing is known."""
    known = [seconds[name] for name in needs if name in seconds]
    usual = median(known) if known else 1.0
    return {name: seconds.get(name, usual) for name in needs}


def critical_path(needs: Needs, seconds: Mapping[str, float]) -> tuple[str, ...]:
    """The chain that takes longest, first to last: nothing makes the whole faster that does not shorten it.

    Among equal ones the first in the alphabet. Without any durations: the chain with the most names.
    """
    reached = _reached(needs, for_each(needs, seconds))
    chain: list[str] = []
    ends = list(needs)
    while ends:
        longest = max(sorted(ends), key=reached.__getitem__)
        chain.append(longest)
        ends = [name for name in needs[longest] if name in needs]
    return tuple(reversed(chain))


def seconds_left(needs: Needs, left: Mapping[str, float], parallelism: int) -> float:
    """The least time in which all can be done: the longest chain, or all work shared out, whichever is more.

    `left` has for each name what it still takes, 0 for one that is done.
    """
    longest = max(_reached(needs, left).values(), default=0.0)
    return max(longest, sum(left.values()) / max(parallelism, 1))


def _reached(needs: Needs, seconds: Mapping[str, float]) -> dict[str, float]:
    """When each name is done if nothing but its needs holds it up."""
    inside = {name: [need for need in needs[name] if need in needs] for name in needs}
    reached: dict[str, float] = {}
    for name in order(inside):
        reached[name] = seconds[name] + max((reached[need] for need in inside[name]), default=0.0)
    return reached
