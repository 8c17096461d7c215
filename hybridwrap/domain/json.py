"""JSON in and out with numbers kept exactly: no value of a user ever passes through a float."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

import simplejson

Json = Any  # None, bool, int, Decimal, str, list or dict of these: mypy has no use for the recursive form

_LONGEST_INT: Final = 1_000  # digits: with more Python may refuse to read or write an int, but never a Decimal


def loads(text: str | bytes) -> Json:
    """Read one JSON value; numbers become int or Decimal. Raise ValueError for anything that is not JSON."""
    try:
        return simplejson.loads(text, use_decimal=True, parse_int=_integer)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _integer(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= _LONGEST_INT else Decimal(digits)


def canonical(value: Json) -> bytes:
    """Write one JSON value with sorted keys and no spaces, as UTF-8: the same value gives the same bytes."""
    text: str = simplejson.dumps(value, use_decimal=True, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return text.encode(errors="backslashreplace")  # a file name that is not UTF-8: its escape is JSON's own


def pretty(value: Json) -> str:
    text: str = simplejson.dumps(value, use_decimal=True, sort_keys=True, ensure_ascii=False, indent=2)
    return text
