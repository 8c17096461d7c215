"""Graphs of modules as SVG: laid out from left to right, each module with its word, the longest chain marked.

The style stands apart: a page brings its own, a file of its own gets `STYLE`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise

from msgspec import Struct

from hybridwrap.cli.lines import cells, fitted
from hybridwrap.domain.graph import Needs
from hybridwrap.domain.layout import Edge, Layout, Point, lay_out

MARGIN = 12
CHARACTER = 6.9  # width of a character of 12 pixels, on the safe side
FEW = 40  # modules that can be drawn with a second line each

STYLE = """
svg.graph { font: 12px system-ui, sans-serif; }
.node rect { fill: #fff; stroke: #d0d7de; }
.node .mark { fill: var(--of); stroke: none; }
.node text { fill: #1f2328; }
.node .word { fill: var(--of); font-size: 11px; }
.edge { fill: none; stroke: #818b98; }
.edge.state { stroke-dasharray: 5 4; }
.edge.critical { stroke: #1f2328; stroke-width: 2; }
.node.critical rect:first-of-type { stroke: #1f2328; stroke-width: 2; }
.edge.near { stroke: #0969da; stroke-width: 2; }
.ok, .planned { --of: #1a7f37; } .unchanged, .none, .empty, .accepted { --of: #59636e; }
.error, .refused, .drifted { --of: #cf222e; }
.unknown, .unsent, .superseded { --of: #8250df; } .running { --of: #0969da; }
.pending, .deferred, .busy, .stopped, .declined { --of: #9a6700; } .destroyed, .retained { --of: #57606a; }
:is(.pending, .none, .destroyed, .retained) rect:first-of-type { stroke: var(--of); stroke-dasharray: 4 3; }
@media (prefers-color-scheme: dark) {
  .node rect { fill: #161b22; stroke: #3d444d; } .node text { fill: #e6edf3; } .edge { stroke: #59636e; }
  .edge.critical, .node.critical rect:first-of-type { stroke: #e6edf3; } .edge.near { stroke: #6cb6ff; }
  .ok, .planned { --of: #4ac26b; } .unchanged, .none, .empty, .accepted { --of: #9198a1; }
  .error, .refused, .drifted { --of: #ff7b72; }
  .unknown, .unsent, .superseded { --of: #c297ff; } .running { --of: #6cb6ff; }
  .pending, .deferred, .busy, .stopped, .declined { --of: #e3b341; } .destroyed, .retained { --of: #9198a1; }
}
"""
PAPER = """svg.graph { background: #fff; }
@media (prefers-color-scheme: dark) { svg.graph { background: #0d1117; } }
"""


class Node(Struct, frozen=True):
    """A module in a drawing; `word` is its status or result, `note` stands behind it where there is room."""

    word: str
    note: str = ""
    link: str = ""


class _Measures(Struct, frozen=True):
    width: int
    height: int
    across: int  # from one layer to the next, the width left out
    down: int

    def place(self, point: Point) -> tuple[float, float]:
        """The upper left corner of what stands at a point."""
        x = MARGIN + point.layer * (self.width + self.across)
        return x, round(MARGIN + point.row * (self.height + self.down), 1)


def draw(
    needs: Needs,
    nodes: Mapping[str, Node],
    *,
    critical: Sequence[str] = (),
    state: Collection[tuple[str, str]] = (),
    title: str,
    description: str = "",
) -> str:
    """Draw a graph; `critical` is the chain to mark, `state` edges are dashed. Raise ValueError for a cycle."""
    layout = lay_out(needs)
    measures = _measured(nodes)
    x, y = measures.place(Point(max(layout.layers, 1) - 1, max(layout.rows, 1) - 1))
    width, height = x + measures.width + MARGIN, y + measures.height + MARGIN
    links = {name: node.link for name, node in nodes.items()}
    looks = {"critical": frozenset(pairwise(critical)), "state": frozenset(state)}
    edges = _edges(layout, measures, looks, links)
    parts = [*edges, *_nodes(layout, measures, nodes, critical)]
    role = "group" if any(node.link for node in nodes.values()) else "img"
    head = f'<svg class="graph" xmlns="http://www.w3.org/2000/svg" role="{role}" aria-label="{escape(title)}"'
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    told = [f"<title>{escape(title)}</title>", f"<desc>{escape(description)}</desc>"] if description else []
    return "\n".join([f"{head} {size}>", *told, *parts, "</svg>"])


def standalone(drawing: str) -> str:
    """A file of its own from a drawing."""
    head, tag, rest = drawing.partition(">\n")
    return f"{head}{tag}<style>{STYLE}{PAPER}</style>\n{rest}\n"


def _measured(nodes: Mapping[str, Node]) -> _Measures:
    longest = max(map(cells, nodes), default=0)
    if len(nodes) <= FEW:
        longest = max([longest, *(cells(_note(node)) for node in nodes.values())])
        return _Measures(width=min(max(int(longest * CHARACTER) + 28, 130), 260), height=44, across=44, down=14)
    return _Measures(width=min(int((longest + 11) * CHARACTER) + 20, 300), height=22, across=44, down=6)


def _edges(
    layout: Layout, measures: _Measures, looks: Mapping[str, Collection[tuple[str, str]]], links: Mapping[str, str]
) -> Iterator[str]:
    for edge in layout.edges:
        marked = "".join(f" {look}" for look, among in looks.items() if (edge.need, edge.name) in among)
        ends = escape(f"{links[edge.need]} {links[edge.name]}".strip())
        between = f' data-ends="{ends}"' if ends else ""
        yield f'<path class="edge{marked}"{between} d="{_path(edge, measures)}"/>'


def _path(edge: Edge, measures: _Measures) -> str:
    """A line out of the right side of one box, through the layers between, into the left side of the other."""
    middle, bend = measures.height / 2, measures.across / 2
    steps: list[str] = []
    for left, right in pairwise(edge.points):
        (from_x, from_y), (to_x, to_y) = measures.place(left), measures.place(right)
        start, end = f"{from_x + measures.width:g} {from_y + middle:g}", f"{to_x:g} {to_y + middle:g}"
        curve = f"C{from_x + measures.width + bend:g} {from_y + middle:g} {to_x - bend:g} {to_y + middle:g} {end}"
        steps.append(f"{'L' if steps else 'M'}{start}{curve}")
    return "".join(steps)


def _nodes(layout: Layout, measures: _Measures, nodes: Mapping[str, Node], critical: Collection[str]) -> Iterator[str]:
    for name, point in layout.places.items():
        node = nodes[name]
        marked = " critical" if name in critical else ""
        drawn = f'<g class="node {escape(node.word)}{marked}">{_box(name, node, *measures.place(point), measures)}</g>'
        yield f'<a href="{escape(node.link)}">{drawn}</a>' if node.link else drawn


def _note(node: Node) -> str:
    return f"{node.word}  {node.note}".rstrip()


def _box(name: str, node: Node, x: float, y: float, measures: _Measures) -> str:
    width, height = measures.width, measures.height
    note = _note(node)
    one_line = height < 2 * 16
    room = width - 20 - (CHARACTER * (cells(node.word) + 1) if one_line else 0)
    shown = escape(fitted(name, int(room / CHARACTER)))
    told = (
        f'<text class="word" text-anchor="end" x="{x + width - 8:g}" y="{y + 15:g}">{escape(node.word)}</text>'
        if one_line
        else f'<text class="word" x="{x + 14:g}" y="{y + 35:g}">{escape(fitted(note, int(room / CHARACTER)))}</text>'
    )
    return (
        f"<title>{escape(f'{name}: {note}')}</title>"
        f'<rect x="{x:g}" y="{y:g}" width="{width}" height="{height}" rx="5"/>'
        f'<rect class="mark" x="{x:g}" y="{y:g}" width="5" height="{height}" rx="2"/>'
        f'<text x="{x + 14:g}" y="{y + (15 if one_line else 19):g}">{shown}</text>{told}'
    )
