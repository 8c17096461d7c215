"""JSON in and out with numbers kept exactly: no value of a user ever passes through a float."""

from __future__ import annotations

from typing import Any

import simplejson

Json = Any  # None, bool, int, Decimal, str, list or dict of these: mypy has no use for the recursive form


def loads(text: str | bytes) -> Json:
    """Read one JSON value; numbers become int or Decimal. Raise ValueError for anything that is not JSON."""
    return simplejson.loads(text, use_decimal=True)


def canonical(value: Json) -> bytes:
    """Write one JSON value with sorted keys and no spaces, as UTF-8: equal values give equal bytes."""
    text: str = simplejson.dumps(value, use_decimal=True, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return text.encode()


def pretty(value: Json) -> str:
    text: str = simplejson.dumps(value, use_decimal=True, sort_keys=True, ensure_ascii=False, indent=2)
    return text
