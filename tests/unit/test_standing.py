"""How a module stands, by its record alone."""

from __future__ import annotations

import pytest

from hybridwrap.domain.record import Record
from hybridwrap.domain.status import Status
from hybridwrap.run.standing import standings
from tests.support.imaginary import STACK


@pytest.mark.parametrize(
    ("status", "told"), [(Status.UNKNOWN, True), (Status.ERROR, True), (Status.OK, False), (Status.DESTROYED, False)]
)
def test_a_state_lock_that_was_left_behind_is_said_where_something_has_to_be_done(
    status: Status, *, told: bool
) -> None:
    record = Record("vm", 1, status=status, settled=status, warnings=("deprecated",), state_lock="9283be14")
    (vm,) = standings(STACK, {"vm": record}, {}, ["vm"])
    assert vm.warnings[0] == "deprecated"
    assert any("9283be14" in warning for warning in vm.warnings) is told
