"""A graph as an SVG file that needs nothing else."""

from __future__ import annotations

from hybridwrap.cli.drawing import Node, draw, standalone
from hybridwrap.cli.graphs.graph import Graph
from hybridwrap.cli.lines import duration


def file(graph: Graph) -> str:
    nodes = {name: Node(str(standing.status), _note(graph, name)) for name, standing in graph.standings.items()}
    state = [(need, name) for name, needs in graph.needs.items() for need in needs if graph.is_state(need, name)]
    drawing = draw(
        graph.needs, nodes, critical=graph.critical, state=state, title=graph.title, description=graph.description
    )
    return standalone(drawing)


def _note(graph: Graph, name: str) -> str:
    took = duration(graph.seconds[name]) if name in graph.seconds else ""
    uses = f"uses {', '.join(graph.elsewhere[name])}" if name in graph.elsewhere else ""
    return " ".join(filter(None, (graph.marks.get(name, "").removeprefix(", "), took, uses)))
