"""Any value goes through a template unchanged."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from hybridwrap.adapters.templates import render
from hybridwrap.domain.json import Json, canonical, loads
from hybridwrap.domain.stack import Reference

NUMBERS = st.integers() | st.decimals(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | NUMBERS | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


def same(one: Json, other: Json) -> bool:
    """Equal, and of one type: 1, True and Decimal(1) are three things."""
    return canonical(one) == canonical(other) and type(one) is type(other)


@given(VALUES)
def test_a_lone_reference_gives_the_value_itself(value: Json) -> None:
    values = {Reference("a", "x"): value}
    assert same(render("{{ modules.a.x }}", values), value)
    assert same(render("{{ modules['a']['x'] }}", values), value)
    assert same(render("{{ (modules.a.x) }}", values), value)


@given(VALUES)
def test_a_value_inside_an_object_or_a_list_is_reached_as_it_is(value: Json) -> None:
    values = {Reference("a", "x"): {"items": [value], "keys": value}}
    assert same(render("{{ modules.a.x.items[0] }}", values), value)
    assert same(render("{{ modules.a.x.keys }}", values), value)


@given(VALUES)
def test_tojson_in_a_text_can_be_read_back(value: Json) -> None:
    text = render("{{ modules.a.x | tojson }}\n", {Reference("a", "x"): value})
    assert canonical(loads(text)) == canonical(value)


@given(st.text(), st.text(alphabet=st.characters(exclude_characters="{}\r")))
def test_a_text_is_put_into_a_text_as_it_is(value: str, around: str) -> None:
    values = {Reference("a", "x"): value}
    assert render(f"{around}{{{{ modules.a.x }}}}{around}.", values) == f"{around}{value}{around}."


@given(NUMBERS)
def test_a_number_in_a_text_is_written_digit_for_digit(value: int | Decimal) -> None:
    text = render("<{{ modules.a.x }}>", {Reference("a", "x"): value})
    assert Decimal(text[1:-1]) == value
