"""Each fault on the list is a test, or says why not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.fault.faults import FAULTS, Fault
from tests.fault.field_cases import FIELD_CASES

TESTS = Path(__file__).parents[1]


def test_the_list_has_no_gap() -> None:
    assert list(FAULTS) == list(range(1, 58))


@pytest.mark.parametrize("fault", [*FAULTS.values(), *FIELD_CASES.values()], ids=lambda fault: fault.what)
def test_a_fault_has_a_test_that_is_there_or_a_reason(fault: Fault) -> None:
    assert bool(fault.tests) != bool(fault.why_not)
    for test in fault.tests:
        assert is_there(test), test


def is_there(test: str) -> bool:
    file, _, name = test.partition("::")
    return re.search(rf"^def {name}\(", (TESTS / file).read_text(), re.MULTILINE) is not None
