"""Drawings of any graph: nothing overlaps, every edge leads to the right, the same graph looks the same."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from hybridwrap.domain.layout import lay_out

NAMES = "abcdefghijkl"
GRAPHS = st.dictionaries(st.sampled_from(NAMES), st.sets(st.sampled_from(NAMES), max_size=4)).map(
    lambda edges: {name: tuple(sorted(need for need in edges.get(name, ()) if need < name)) for name in NAMES}
)


@given(GRAPHS)
def test_no_two_names_overlap(needs: dict[str, tuple[str, ...]]) -> None:
    for one, other in combinations(lay_out(needs).places.values(), 2):
        assert one.layer != other.layer or abs(one.row - other.row) > 0.99


@given(GRAPHS)
def test_every_edge_leads_layer_by_layer_from_a_need_to_what_needs_it(needs: dict[str, tuple[str, ...]]) -> None:
    layout = lay_out(needs)
    assert {(edge.need, edge.name) for edge in layout.edges} == {(n, name) for name in needs for n in needs[name]}
    for edge in layout.edges:
        assert (edge.points[0], edge.points[-1]) == (layout.places[edge.need], layout.places[edge.name])
        assert all(right.layer == left.layer + 1 for left, right in pairwise(edge.points))


@given(GRAPHS)
def test_everything_lies_inside(needs: dict[str, tuple[str, ...]]) -> None:
    layout = lay_out(needs)
    assert all(0 <= place.layer < layout.layers and 0 <= place.row < layout.rows for place in layout.places.values())


@given(GRAPHS, st.randoms(use_true_random=False))
def test_how_a_graph_is_written_does_not_change_its_drawing(needs: dict[str, tuple[str, ...]], random: object) -> None:
    shuffled = list(needs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert lay_out({name: needs[name][::-1] for name in shuffled}) == lay_out(needs)


def test_an_empty_graph_and_names_without_edges_have_a_place() -> None:
    assert lay_out({}).places == {}
    alone = lay_out({f"m{i}": () for i in range(9)})
    assert (alone.layers, alone.rows) == (4, 3)
