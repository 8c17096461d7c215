"""Type expressions, as they are read, and values that fit them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridwrap.domain.json import Json
from hybridwrap.domain.shapes import ANY, Shape, fits, read_shape, sample, shape_of

NAMES = st.from_regex(r"[a-z_][a-z0-9_-]{0,8}", fullmatch=True)
PLAIN = st.sampled_from(["string", "number", "bool"]).map(Shape)


def _larger(inner: st.SearchStrategy[Shape]) -> st.SearchStrategy[Shape]:
    collections = st.builds(lambda kind, one: Shape(kind, (one,)), st.sampled_from(["list", "set", "map"]), inner)
    tuples = st.lists(inner, max_size=3).map(lambda parts: Shape("tuple", tuple(parts)))
    return collections | tuples | st.dictionaries(NAMES, st.tuples(inner, st.booleans()), max_size=3).map(_object)


def _object(attributes: dict[str, tuple[Shape, bool]]) -> Shape:
    shapes = tuple(shape for shape, _ in attributes.values())
    return Shape(
        "object", shapes, tuple(attributes), frozenset(n for n, (_, optional) in attributes.items() if optional)
    )


SHAPES = st.recursive(PLAIN, _larger, max_leaves=6)


@given(SHAPES)
def test_a_type_is_read_as_it_was_written_also_when_its_lines_were_joined(shape: Shape) -> None:
    assert read_shape(str(shape)) == shape
    assert read_shape(" ".join(str(shape).replace(",", " ").split())) == shape


@given(SHAPES)
def test_what_is_made_up_fits(shape: Shape) -> None:
    assert fits(shape, sample(shape, "x"))


@given(SHAPES, st.text(max_size=20))
def test_whatever_is_written_for_a_type_is_no_error(shape: Shape, noise: str) -> None:
    read_shape(str(shape)[: len(noise)] + noise)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("", "any"),
        ("list", "list(any)"),
        ("map(any)", "map(any)"),
        ('object({ size = optional(number, -1.5) tags = optional(map(string), { "a" = "}" }) })', None),
        (
            "object({ a : string, b = tuple([number, list(bool)]) })",
            "object({a = string, b = tuple([number, list(bool)])})",
        ),
        ("string string", "any"),
        ("list(strng)", "any"),
        ("object({ a = })", "any"),
    ],
)
def test_forms_of_types(text: str, read: str | None) -> None:
    assert str(read_shape(text)) == (read or "object({size = optional(number), tags = optional(map(string))})")


@pytest.mark.parametrize(
    ("type_", "value", "fit"),
    [
        ("string", 5, True),
        ("string", ["a"], False),
        ("number", "1e3", True),
        ("number", "ten", False),
        ("number", True, False),
        ("bool", "true", True),
        ("bool", Decimal("1.5"), False),
        ("list(string)", {"a": "b"}, False),
        ("map(string)", ["b"], False),
        ("map(list(number))", {"a": ["1"], "b": []}, True),
        ("list(any)", [1, "a"], False),
        ("list(any)", [{"a": 1}, {"a": 2}], True),
        ("tuple([string])", ["a", "b"], False),
        ("object({a = string, b = optional(number)})", {"a": "x", "more": 1}, True),
        ("object({a = string, b = optional(number)})", {"b": 1}, False),
        ("object({a = string})", None, True),
    ],
)
def test_what_the_engine_converts(type_: str, value: Json, *, fit: bool) -> None:
    assert fits(read_shape(type_), value) is fit


def test_a_value_has_a_shape_by_itself() -> None:
    assert shape_of({"b": [1, "a", True], "a": None}) == read_shape(
        "object({a = any, b = tuple([number, string, bool])})"
    )
    assert shape_of(None) == ANY
