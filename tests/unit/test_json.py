"""JSON that keeps numbers as they are."""

from __future__ import annotations

from decimal import Decimal

import pytest

from hybridwrap.domain.json import Json, canonical, loads, pretty


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9007199254740993", 9007199254740993),
        ("12345678901234567890123456789", 12345678901234567890123456789),
        ("0.1", Decimal("0.1")),
        ("3.14159265358979323846264338327950288", Decimal("3.14159265358979323846264338327950288")),
        ("1e400", Decimal("1e400")),
        ('"012345678901"', "012345678901"),
        ('"08e30503"', "08e30503"),
    ],
)
def test_no_number_passes_through_a_float(text: str, value: Json) -> None:
    read = loads(text)
    assert read == value
    assert not isinstance(read, float)
    assert loads(canonical(read)) == value


def test_a_number_of_any_length_is_read_and_written_digit_by_digit() -> None:
    digits = "7" * 10_000
    assert canonical(loads(digits)) == digits.encode()
    assert pretty([loads(digits)]) == f"[\n  {digits}\n]"


@pytest.mark.parametrize(
    "text", ["", "NaN", "Infinity", "{", '{"a":1,}', "[" * 100_000, b"\xff", '"\x01"', "1 2", "'a'"], ids=repr
)
def test_what_is_not_json_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        loads(text)


def test_canonical_json_has_sorted_keys_and_no_spaces() -> None:
    assert canonical({"b": [1, None, True], "a": {"d": "ü", "c": Decimal("1.50")}}) == (
        '{"a":{"c":1.50,"d":"ü"},"b":[1,null,true]}'.encode()
    )


def test_control_characters_are_escaped() -> None:
    assert canonical("a\nb\x00\x1b") == b'"a\\nb\\u0000\\u001b"'


def test_a_file_name_that_is_not_utf8_survives() -> None:
    name = b"caf\xe9".decode(errors="surrogateescape")
    assert canonical(name) == b'"caf\\udce9"'
    assert loads(canonical(name)) == name


def test_a_number_that_json_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical(float("nan"))
