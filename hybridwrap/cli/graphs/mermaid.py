"""A graph in the language of Mermaid, which GitHub, GitLab and many editors draw."""

from __future__ import annotations

from collections.abc import Iterator

from hybridwrap.cli.graphs.colours import COLOURS, DASHED, TEXT
from hybridwrap.cli.graphs.graph import Graph

# What Mermaid draws unless the page that draws says otherwise, and no diagram can; GitHub and GitLab don't:
# https://mermaid.js.org/config/schema-docs/config.html#maxedges, #maxtextsize
MOST_EDGES = 500
MOST_CHARACTERS = 50_000


def too_large(graph: Graph, text: str) -> str:
    """What is too much for most that draw Mermaid, "" when nothing is."""
    edges = sum(map(len, (*graph.needs.values(), *graph.elsewhere.values())))
    if edges <= MOST_EDGES and len(text) <= MOST_CHARACTERS:
        return ""
    return f"{edges} edges, {len(text)} characters: forges draw no Mermaid beyond {MOST_EDGES} and {MOST_CHARACTERS}"


def lines(graph: Graph) -> Iterator[str]:
    ids = {name: f"n{index}" for index, name in enumerate(graph.needs)}
    yield "---"
    yield f"title: {_quoted(graph.title)}"
    yield "---"
    yield "flowchart LR"
    yield f"  accTitle: {_plain(graph.title)}"
    yield f"  accDescr: {_plain(graph.description)}"
    for name, each in ids.items():
        yield f'  {each}["{_escaped(name)}<br>{_escaped(graph.word(name))}"]:::{graph.standings[name].status}'
    for name, needs in graph.needs.items():
        for need in needs:
            label = "|state|" if graph.is_state(need, name) else ""
            yield f"  {ids[need]} {'==>' if graph.is_critical(need, name) else '-->'}{label} {ids[name]}"
    others = {other: f"s{index}" for index, other in enumerate(graph.others)}
    for other, each in others.items():
        yield f'  {each}(["{_escaped(other)}"])'
    for name, used in graph.elsewhere.items():
        yield from (f"  {others[other]} --> {ids[name]}" for other in used)
    for status in sorted({standing.status for standing in graph.standings.values()}):
        fill, stroke = COLOURS[status]
        dashes = ",stroke-dasharray:4 3" if status in DASHED else ""
        yield f"  classDef {status} fill:{fill},stroke:{stroke},color:{TEXT}{dashes}"


def _escaped(text: str) -> str:
    """What would end a label, or begin something in it, as the entities that Mermaid knows."""
    return "".join(c if c.isalnum() or c in " -_.,:" else f"#{ord(c)};" for c in text)


def _plain(text: str) -> str:
    return "".join(c if c.isalnum() or c in " -_.,:" else " " for c in text)


def _quoted(text: str) -> str:
    return f'"{_plain(text)}"'
