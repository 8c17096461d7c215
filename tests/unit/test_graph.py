"""Order, cycles and reach in a graph of names."""

from __future__ import annotations

import pytest

from hybridwrap.domain.graph import Needs, cycle, order, reach, reversed_edges, waves

DIAMOND = {"d": ["b", "c"], "b": ["a"], "c": ["a"], "a": [], "z": []}


def test_needed_names_come_first_and_ties_go_by_the_alphabet() -> None:
    assert order(DIAMOND) == ("a", "b", "c", "d", "z")
    assert order({"b": ["z"], "a": [], "z": []}) == ("a", "z", "b")
    assert order({}) == ()


def test_a_cycle_has_no_order() -> None:
    with pytest.raises(ValueError, match="cycle"):
        order({"a": ["b"], "b": ["a"]})


@pytest.mark.parametrize(
    ("needs", "expected"),
    [
        ({"a": ["b"], "b": ["c"], "c": ["a"]}, ("a", "b", "c", "a")),
        ({"c": ["b"], "b": ["a"], "a": ["c"]}, ("a", "c", "b", "a")),
        ({"x": ["a"], "a": ["b"], "b": ["a"]}, ("a", "b", "a")),
        ({"a": ["a"]}, ("a", "a")),
        (DIAMOND, ()),
        ({}, ()),
    ],
)
def test_a_cycle_is_told_in_the_direction_of_need(needs: Needs, expected: tuple[str, ...]) -> None:
    assert cycle(needs) == expected


def test_edges_can_be_turned() -> None:
    assert reversed_edges(DIAMOND) == {"a": ("b", "c"), "b": ("d",), "c": ("d",), "d": (), "z": ()}


def test_reach_is_transitive_and_without_the_start() -> None:
    assert reach(DIAMOND, ["d"]) == {"a", "b", "c"}
    assert reach(DIAMOND, ["a", "z"]) == frozenset()
    assert reach(reversed_edges(DIAMOND), ["a"]) == {"b", "c", "d"}
    assert reach(DIAMOND, ["d", "b"]) == {"a", "b", "c"}


def test_waves_know_what_lies_between_the_chosen_ones() -> None:
    needs = {"a": (), "b": ("a",), "c": ("b",), "d": (), "e": ("a", "d")}
    assert waves(needs, needs) == {"a": 1, "d": 1, "b": 2, "e": 2, "c": 3}
    assert waves(needs, ["c", "a", "d"]) == {"a": 1, "d": 1, "c": 2}
    assert waves(needs, []) == {}
