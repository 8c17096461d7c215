"""The guard of a manifest: how many objects a plan may destroy, and of which types none."""

from __future__ import annotations

import pytest

from hybridwrap.domain.engine_run import Action, PlannedChange
from hybridwrap.domain.limits import over_limit
from hybridwrap.domain.stack import Guard

PLAN = (
    PlannedChange("aws_vpc.a", Action.DELETE, "aws_vpc"),
    PlannedChange("aws_db_instance.b", Action.REPLACE, "aws_db_instance"),
    PlannedChange("aws_instance.c", Action.UPDATE, "aws_instance"),
    PlannedChange("aws_instance.d", Action.FORGET, "aws_instance"),
)


@pytest.mark.parametrize(
    ("guard", "allowed", "said"),
    [
        (Guard(), None, ""),
        (Guard(2), None, ""),
        (Guard(1), None, "would destroy or replace 2 objects: guard.max_destroys is 1"),
        (Guard(0), 1, "would destroy or replace 2 objects: guard.max_destroys is 0"),
        (Guard(0), 2, ""),
        (Guard(5), 1, ""),
        (Guard(None, ("aws_instance",)), None, ""),
        (Guard(9, ("aws_db_instance",)), 9,
         "would destroy or replace aws_db_instance.b: guard.protected_types names such"),
    ],
)  # fmt: skip
def test_a_plan_is_held_against_its_guard(guard: Guard, allowed: int | None, said: str) -> None:
    assert over_limit(guard, PLAN, allowed) == said


def test_a_single_object_is_counted_as_one() -> None:
    assert "1 object:" in over_limit(Guard(0), PLAN[:1])
