"""The order of any graph without cycles, and the cycle of any with one."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hybridwrap.domain.graph import cycle, order, reach, reversed_edges

NAMES = st.sampled_from("abcdefghij")
GRAPHS = st.dictionaries(NAMES, st.sets(NAMES, max_size=4)).map(
    lambda edges: {name: edges.get(name, set()) for name in sorted({*edges, *(n for e in edges.values() for n in e)})}
)


@given(GRAPHS)
def test_there_is_an_order_or_a_cycle_and_each_is_right(needs: dict[str, set[str]]) -> None:
    circle = cycle(needs)
    if circle:
        assert circle[0] == circle[-1] == min(circle)
        assert len(set(circle)) == len(circle) - 1
        assert all(needed in needs[name] for name, needed in pairwise(circle))
        return
    ordered = order(needs)
    assert sorted(ordered) == sorted(needs)
    place = {name: at for at, name in enumerate(ordered)}
    assert all(place[needed] < place[name] for name in needs for needed in needs[name])


@given(GRAPHS, st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_how_the_graph_is_written(needs: dict[str, set[str]], random: object) -> None:
    shuffled = list(needs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    again = {name: sorted(needs[name], reverse=True) for name in shuffled}
    assert cycle(again) == cycle(needs)
    if not cycle(needs):
        assert order(again) == order(needs)


@given(GRAPHS)
def test_in_an_order_every_name_is_the_first_of_those_that_could_come(needs: dict[str, set[str]]) -> None:
    if cycle(needs):
        return
    done: set[str] = set()
    for name in order(needs):
        assert name == min(n for n in needs if n not in done and needs[n] <= done)
        done.add(name)


@given(GRAPHS, NAMES)
def test_reach_and_its_reverse_agree(needs: dict[str, set[str]], start: str) -> None:
    back = reversed_edges(needs)
    assert all(start in reach(back, [name]) for name in reach(needs, [start]))
