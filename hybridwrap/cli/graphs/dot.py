"""A graph in the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator

from hybridwrap.cli.graphs.colours import COLOURS, DASHED, TEXT
from hybridwrap.cli.graphs.graph import Graph


def lines(graph: Graph) -> Iterator[str]:
    yield "digraph {"
    title, description = _quoted(graph.title), _quoted(graph.description)
    yield f'  graph [rankdir=LR, fontname="Helvetica", label={title}, tooltip={description}]'
    yield f'  node [shape=box, style="rounded,filled", fontname="Helvetica", fontcolor="{TEXT}"]'
    for name, standing in graph.standings.items():
        fill, stroke = COLOURS[standing.status]
        dashed = ', style="rounded,filled,dashed"' if standing.status in DASHED else ""
        label = _quoted(f"{name}\n{graph.word(name)}")
        yield f'  {_quoted(name)} [label={label}, fillcolor="{fill}", color="{stroke}"{dashed}]'
    for name, needs in graph.needs.items():
        for need in needs:
            yield f"  {_quoted(need)} -> {_quoted(name)}{_look(graph, need, name)}"
    for other in graph.others:
        yield f'  {_quoted(other)} [style="rounded,dashed"]'
    for name, used in graph.elsewhere.items():
        yield from (f"  {_quoted(other)} -> {_quoted(name)}" for other in used)
    yield "}"


def _look(graph: Graph, need: str, name: str) -> str:
    bold = ["penwidth=3"] if graph.is_critical(need, name) else []
    dashed = ['style=dashed, label="state"'] if graph.is_state(need, name) else []
    return f" [{', '.join([*bold, *dashed])}]" if bold or dashed else ""


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
