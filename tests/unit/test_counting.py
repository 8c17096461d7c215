"""Counts and lists for people."""

from __future__ import annotations

import pytest

from hybridwrap.counting import count_of, first_of


@pytest.mark.parametrize(("number", "told"), [(0, "0 objects"), (1, "1 object"), (2, "2 objects")])
def test_one_thing_has_no_s(number: int, told: str) -> None:
    assert count_of(number, "object") == told


def test_a_word_that_no_s_makes_is_given() -> None:
    assert count_of(2, "process", "processes") == "2 processes"


@pytest.mark.parametrize(
    ("names", "told"), [([], ""), (["a"], "a"), (["a", "b"], "a, b"), (["a", "b", "c", "d"], "a, b and 2 more")]
)
def test_of_many_the_first_few_are_named(names: list[str], told: str) -> None:
    assert first_of(names, 2) == told
