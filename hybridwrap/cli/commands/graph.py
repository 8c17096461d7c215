"""`hybridwrap graph`."""

from __future__ import annotations

from collections.abc import Iterator

import click

from hybridwrap.cli.damage import refuse_damage
from hybridwrap.cli.graphs.graph import Graph, graph_of
from hybridwrap.cli.options import Place, json_option, reading_options, selection_options, terminal_width
from hybridwrap.cli.overview import overview
from hybridwrap.cli.wrapping import say
from hybridwrap.domain.json import Json, canonical
from hybridwrap.run.selection import Selection


@click.command("graph")
@reading_options
@selection_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["tree", "mermaid", "dot", "svg"]),
    default="tree",
    show_default=True,
    help="mermaid and dot are for other programs to draw, svg is drawn already.",
)
@json_option
def command(place: Place, selection: Selection, form: str, as_json: bool) -> int:
    """Show the graph of the stack, with the statuses.

    The chain that takes longest is marked: by how long its modules took in earlier runs, by their number before there
    are any.
    """
    seen = overview(place, selection)
    graph = graph_of(seen)
    for line in [canonical(_as_json(graph)).decode()] if as_json else _lines(graph, form):
        click.echo(line)
    refuse_damage(seen.damage)
    return 0


def _as_json(graph: Graph) -> Json:
    """Modules in order, each with its needs and why it has them; the marked chain."""
    modules = [
        {
            "module": name,
            "status": str(graph.standings[name].status),
            "elsewhere": list(graph.elsewhere.get(name, ())),
            "needs": {need: list(graph.kinds.get(name, {}).get(need, ())) for need in needs},
        }
        for name, needs in graph.needs.items()
    ]
    return {"version": 1, "modules": modules, "longest": list(graph.critical)}


def _lines(graph: Graph, form: str) -> Iterator[str]:
    match form:
        case "mermaid":
            from hybridwrap.cli.graphs import mermaid

            drawn = list(mermaid.lines(graph))
            yield from drawn
            if told := mermaid.too_large(graph, "\n".join(drawn)):
                say(f"note: {told}; --format svg is drawn already, and names of modules select fewer", err=True)
        case "dot":
            from hybridwrap.cli.graphs import dot

            yield from dot.lines(graph)
        case "svg":
            from hybridwrap.cli.graphs import svg

            yield svg.file(graph).rstrip("\n")
        case _:
            from hybridwrap.cli.graphs import tree

            yield from tree.lines(graph, terminal_width()) if graph.needs else ["the stack has no modules"]
