"""A graph as a tree of lines: each module once, below the need that comes last, the other needs named beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import click

from hybridwrap.cli.graphs.graph import Graph
from hybridwrap.cli.lines import cells, coloured, duration, faint, fitted, fitted_at_end

LEAST = 16  # columns of a note; less says nothing
DEEPEST = 40  # columns of branches; deeper ones are cut at the left
BRANCH = {(False, False): "├─ ", (False, True): "└─ ", (True, False): "┝━ ", (True, True): "┕━ "}  # critical, last
TRUNK = {False: "│  ", True: "   "}  # last


def lines(graph: Graph, width: int) -> Iterator[str]:
    """Draw the tree; `width` 0 means that nothing has to be cut."""
    parents = _parents(graph)
    drawn = list(_drawn(graph, parents))
    room = max((cells(branches + name) for branches, name in drawn), default=0)
    status = max((cells(graph.word(name)) for _, name in drawn), default=0)
    for branches, name in drawn:
        note = _note(graph, name, parents.get(name, ""))
        told = _fitted(note, max(width - room - status - 4, 0)) if width else "  ".join(note)
        word = coloured(graph.standings[name].status) + click.style(graph.marks.get(name, ""), fg="yellow")
        label = click.style(name, bold=True) if name in graph.critical else name
        gap = " " * (room - cells(branches + name))
        behind = " " * (status - cells(graph.word(name)) + 2) + faint(told) if told else ""
        yield f"{branches}{label}{gap}  {word}{behind}"
    if graph.caption:
        yield faint(f"━ {graph.caption}")


def _parents(graph: Graph) -> dict[str, str]:
    """Below which need each module stands: the one on the marked chain, its owner, or the deepest."""
    depth: dict[str, int] = {}
    parents: dict[str, str] = {}
    for name, needs in graph.needs.items():
        if needs:
            owner = graph.standings[name].owner
            parents[name] = max(needs, key=lambda n: (graph.is_critical(n, name), n == owner, depth[n], n))
        depth[name] = 1 + max((depth[need] for need in needs), default=0)
    return parents


def _drawn(graph: Graph, parents: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Branches and name of each line."""
    children: dict[str, list[str]] = {}
    for name in graph.needs:
        children.setdefault(parents.get(name, ""), []).append(name)
    stack = [("", "", name) for name in reversed(children.get("", ()))]
    while stack:
        trunk, branch, name = stack.pop()
        yield fitted_at_end(trunk + branch, DEEPEST), name
        below = trunk + (TRUNK[branch in (BRANCH[False, True], BRANCH[True, True])] if branch else "")
        found = children.get(name, [])
        for index, child in reversed(list(enumerate(found))):
            stack.append((below, BRANCH[graph.is_critical(name, child), index == len(found) - 1], child))


def _note(graph: Graph, name: str, parent: str) -> tuple[str, ...]:
    others = ", ".join(need for need in graph.needs[name] if need != parent)
    read = ", ".join(need for need in graph.needs[name] if graph.is_state(need, name))
    owner = graph.standings[name].owner
    parts = (
        duration(graph.seconds[name]) if name in graph.seconds else "",
        f"goes with {owner}" if owner else "",
        f"also needs {others}" if others else "",
        f"reads the state of {read}" if read else "",
        f"uses {', '.join(graph.elsewhere[name])}" if name in graph.elsewhere else "",
    )
    return tuple(part for part in parts if part)


def _fitted(parts: Sequence[str], room: int) -> str:
    """Cut the last part that has a place, and leave out what would be cut to nothing that can be read."""
    told = ""
    for part in parts:
        left = room - cells(told) - (2 if told else 0)
        if cells(part) > left and left < LEAST:
            break
        told += ("  " if told else "") + fitted(part, left)
    return told
