"""Where the names of a graph go in a drawing: in layers from left to right, near what they belong to.

The same graph gives the same drawing. Positions are in units: one layer to the right, one row down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean

from msgspec import Struct

from hybridwrap.domain.graph import Needs, order, reversed_edges

SWEEPS = 6  # there and back; later ones hardly move anything
LEAST_COLUMNS = 4  # of names without any edge

_Bend = tuple[str, str, int]  # where an edge crosses a layer: from, to, layer
_Spot = str | _Bend


class Point(Struct, frozen=True):
    layer: int
    row: float


class Edge(Struct, frozen=True):
    """From a need to what needs it; `points` begin and end at the two, with one in each layer in between."""

    need: str
    name: str
    points: tuple[Point, ...]


class Layout(Struct, frozen=True):
    places: Mapping[str, Point]
    edges: tuple[Edge, ...]
    layers: int
    rows: float


def lay_out(needs: Needs) -> Layout:
    """Place every name right of all that it needs. Raise ValueError for a cycle."""
    inside = {name: sorted({need for need in needs[name] if need in needs}) for name in sorted(needs)}
    followers = reversed_edges(inside)
    linked = {name: found for name, found in inside.items() if found or followers[name]}
    return _with_loners(_in_layers(linked), [name for name in inside if name not in linked])


def _in_layers(needs: Mapping[str, Sequence[str]]) -> Layout:
    layer_of = _layers(needs)
    chains = {(need, name): _chain(need, name, layer_of) for name in needs for need in needs[name]}
    before: dict[_Spot, list[_Spot]] = {name: [] for name in needs}
    for chain in chains.values():
        for left, right in pairwise(chain):
            before.setdefault(right, []).append(left)
    layers = _filled(before, layer_of)
    rows = _rows(_untangled(layers, before), before)
    places = {name: Point(layer_of[name], rows[name]) for name in needs}
    edges = tuple(
        Edge(need, name, tuple(Point(_layer(spot, layer_of), rows[spot]) for spot in chain))
        for (need, name), chain in sorted(chains.items())
    )
    return Layout(places, edges, len(layers), max(rows.values(), default=-1.0) + 1)


def _layers(needs: Needs) -> dict[str, int]:
    layer_of: dict[str, int] = {}
    for name in order(needs):
        layer_of[name] = 1 + max((layer_of[need] for need in needs[name]), default=-1)
    return layer_of


def _chain(need: str, name: str, layer_of: Mapping[str, int]) -> list[_Spot]:
    return [need, *((need, name, layer) for layer in range(layer_of[need] + 1, layer_of[name])), name]


def _layer(spot: _Spot, layer_of: Mapping[str, int]) -> int:
    return layer_of[spot] if isinstance(spot, str) else spot[2]


def _filled(spots: Iterable[_Spot], layer_of: Mapping[str, int]) -> list[list[_Spot]]:
    layers: list[list[_Spot]] = [[] for _ in range(max(layer_of.values(), default=-1) + 1)]
    for spot in sorted(spots, key=_key):
        layers[_layer(spot, layer_of)].append(spot)
    return layers


def _key(spot: _Spot) -> tuple[str, ...]:
    return (spot,) if isinstance(spot, str) else (spot[1], spot[0])


def _untangled(layers: list[list[_Spot]], before: Mapping[_Spot, Sequence[_Spot]]) -> list[list[_Spot]]:
    """Sort each layer by where its neighbours are, back and forth: few edges cross then."""
    after = _turned(before)
    for _ in range(SWEEPS):
        for neighbours, layers_in_turn in ((before, layers), (after, layers[::-1])):
            at = {spot: float(index) for layer in layers for index, spot in enumerate(layer)}
            for layer in layers_in_turn:
                wish = {spot: _middle(spot, neighbours, at) for spot in layer}
                layer.sort(key=lambda spot, wish=wish: (wish[spot], _key(spot)))  # type: ignore[misc]
                at |= {spot: float(index) for index, spot in enumerate(layer)}
    return layers


def _rows(layers: Sequence[Sequence[_Spot]], before: Mapping[_Spot, Sequence[_Spot]]) -> dict[_Spot, float]:
    """Move each spot as near to its neighbours as the order in its layer allows."""
    after = _turned(before)
    rows = {spot: float(index) for layer in layers for index, spot in enumerate(layer)}
    for _ in range(SWEEPS):
        for neighbours, in_turn in ((before, layers), (after, layers[::-1])):
            for layer in in_turn:
                wishes = [_middle(spot, neighbours, rows) for spot in layer]
                rows |= dict(zip(layer, _apart(wishes), strict=True))
    top = min(rows.values(), default=0.0)
    return {spot: round(row - top, 3) for spot, row in rows.items()}


def _middle(spot: _Spot, neighbours: Mapping[_Spot, Sequence[_Spot]], at: Mapping[_Spot, float]) -> float:
    near = neighbours.get(spot, ())
    return fmean(at[other] for other in near) if near else at[spot]


def _turned(before: Mapping[_Spot, Sequence[_Spot]]) -> dict[_Spot, list[_Spot]]:
    after: dict[_Spot, list[_Spot]] = {}
    for spot, near in before.items():
        for other in near:
            after.setdefault(other, []).append(spot)
    return after


def _apart(wishes: Sequence[float]) -> list[float]:
    """The nearest rows to those wished for, in the same order and at least 1 apart (pool adjacent violators)."""
    pools: list[tuple[float, int]] = []  # mean, size; of each wish less its index
    for index, wish in enumerate(wishes):
        mean, size = wish - index, 1
        while pools and pools[-1][0] >= mean:
            other, count = pools.pop()
            mean, size = (mean * size + other * count) / (size + count), size + count
        pools.append((mean, size))
    flat = [mean for mean, size in pools for _ in range(size)]
    return [mean + index for index, mean in enumerate(flat)]


def _with_loners(layout: Layout, loners: Sequence[str]) -> Layout:
    """Put names without any edge into rows below the rest."""
    columns = max(layout.layers, min(LEAST_COLUMNS, len(loners)))
    places = {name: Point(i % columns, layout.rows + i // columns) for i, name in enumerate(loners)}
    rows = layout.rows + -(-len(loners) // columns) if loners else layout.rows
    return Layout({**layout.places, **places}, layout.edges, columns if loners else layout.layers, rows)
