"""Ids tell when they were made."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hybridwrap.adapters.clock import SystemClock, Ulids
from hybridwrap.domain.ulid import made_at


def test_an_id_tells_when_it_was_made_to_the_millisecond() -> None:
    before = SystemClock().now()
    made = made_at(Ulids(SystemClock()).new())
    assert made is not None
    assert before - timedelta(milliseconds=1) <= made <= SystemClock().now()
    assert made_at("01ARZ3NDEKTSV4RRFFQ69G5FAV") == datetime(2016, 7, 30, 23, 54, 10, 259_000, UTC)


@pytest.mark.parametrize("identifier", ["", "R1", "01HQ-no-ulid", "01hq0000000000000000000000"])
def test_what_is_no_ulid_tells_nothing(identifier: str) -> None:
    assert made_at(identifier) is None
