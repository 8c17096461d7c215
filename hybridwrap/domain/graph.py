"""Order and reach in a graph of names; `needs` gives for each name those that come before it."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter

Needs = Mapping[str, Iterable[str]]


def order(needs: Needs) -> tuple[str, ...]:
    """Put every name after those that it needs; of names that could come next the first in the alphabet does.

    Raise ValueError when there is a cycle.
    """
    sorter = TopologicalSorter(needs)
    sorter.prepare()
    ready, ordered = list(sorter.get_ready()), []
    heapq.heapify(ready)
    while ready:
        ordered.append(name := heapq.heappop(ready))
        sorter.done(name)
        for follower in sorter.get_ready():
            heapq.heappush(ready, follower)
    return tuple(ordered)


def cycle(needs: Needs) -> tuple[str, ...]:
    """Find one cycle, as `(a, b, c, a)` where a needs b; always the same one. Empty when there is none."""
    try:
        TopologicalSorter({name: sorted(needs[name]) for name in sorted(needs)}).prepare()
    except CycleError as error:
        found = error.args[1][:0:-1]  # graphlib names the needed one first, and the first one twice
        start = found.index(min(found))
        return (*found[start:], *found[:start], found[start])
    return ()


def reversed_edges(needs: Needs) -> dict[str, tuple[str, ...]]:
    """Turn all edges: for each name those that need it, in alphabetical order."""
    followers: dict[str, list[str]] = {name: [] for name in needs}
    for name in sorted(needs):
        for needed in set(needs[name]):
            followers.setdefault(needed, []).append(name)
    return {name: tuple(found) for name, found in followers.items()}


def reach(needs: Needs, names: Iterable[str]) -> frozenset[str]:
    """All that the names need, directly or through others, without the names themselves unless they are on the way."""
    found: set[str] = set()
    frontier = [needed for name in names for needed in needs.get(name, ())]
    while frontier:
        name = frontier.pop()
        if name not in found:
            found.add(name)
            frontier.extend(needs.get(name, ()))
    return frozenset(found)


def waves(needs: Needs, names: Iterable[str]) -> dict[str, int]:
    """Number the names so that each comes after all that it needs, also through others; the first wave is 1."""
    chosen = set(names)
    found: dict[str, int] = {}
    for name in order(needs):
        if name in chosen:
            found[name] = 1 + max((found[before] for before in reach(needs, [name]) & chosen), default=0)
    return found
