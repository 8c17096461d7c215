"""Placeholders have the type of their variable, so that the engine takes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridwrap.domain.json import Json
from hybridwrap.domain.placeholder import placeholder


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("", "placeholder"),
        ("any", "placeholder"),
        ("string", "placeholder"),
        ("number", 0),
        ("bool", False),
        ("list(string)", []),
        ("set(object({a = string}))", []),
        ("map(any)", {}),
        ("list", []),
        ("object({ a = string, b = number })", {"a": "placeholder", "b": 0}),
        ("object({ a = string b = bool })", {"a": "placeholder", "b": False}),
        ('object({ "a-b" = list(object({c = string})), d = map(string) })', {"a-b": [], "d": {}}),
        ("object({ a = optional(string), b = optional(list(number), [1, 2]), c = bool })",
         {"a": None, "b": None, "c": False}),
        ("object({ a = object({ b = tuple([string, number]) }) })", {"a": {"b": ["placeholder", 0]}}),
        ("object({})", {}),
        ("tuple([])", []),
    ],
)  # fmt: skip
def test_every_type_has_a_value(type_: str, value: Json) -> None:
    assert placeholder(type_) == value


@given(st.text("objecttuplelistoptional({[]})=, \n", max_size=40))
def test_a_type_that_is_none_ends_in_some_value(text: str) -> None:
    placeholder(text)
