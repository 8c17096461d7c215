"""Which errors are tried again, and which plans may not follow a first one."""

from __future__ import annotations

import pytest

from hybridwrap.domain.engine_run import Action, Diagnostic, PlannedChange
from hybridwrap.domain.stack import Retry
from hybridwrap.run.retry import is_transient, new_destruction

THROTTLED = Diagnostic("error", "creating EC2 Instance", "ThrottlingException: Rate exceeded", "aws_instance.web")
DENIED = Diagnostic("error", "creating S3 Bucket", "AccessDenied", "aws_s3_bucket.logs")
RETRY = Retry(("Throttling", r"^aws_instance\.web: .*RequestLimit"), 3, 1.0)


@pytest.mark.parametrize(
    ("errors", "transient"),
    [
        ([THROTTLED], True),
        ([THROTTLED, THROTTLED], True),
        ([THROTTLED, DENIED], False),
        ([DENIED], False),
        ([], False),
        ([Diagnostic("error", "RequestLimitExceeded", address="aws_instance.web")], True),
        ([Diagnostic("error", "RequestLimitExceeded", address="aws_instance.db")], False),
    ],
)
def test_only_when_every_error_may_pass_by_itself_is_there_another_try(
    errors: list[Diagnostic], transient: bool
) -> None:
    assert is_transient(RETRY, errors) is transient


def test_without_patterns_nothing_is_tried_again() -> None:
    assert not is_transient(Retry(), [THROTTLED])


def change(address: str, action: Action) -> PlannedChange:
    return PlannedChange(address, action)


@pytest.mark.parametrize("action", [Action.DELETE, Action.REPLACE, Action.REMOVE, Action.FORGET])
def test_a_second_plan_may_destroy_nothing_new(action: Action) -> None:
    first = (change("vpc", Action.UPDATE), change("old", Action.DELETE))
    second = (change("vpc", action), change("old", Action.DELETE), change("new", Action.CREATE))
    assert new_destruction(first, second) == (change("vpc", action),)
    assert new_destruction(second, second) == ()


def test_what_was_to_be_replaced_may_still_be_and_less_is_no_matter() -> None:
    first = (change("vm", Action.REPLACE), change("disk", Action.CREATE))
    assert new_destruction(first, (change("vm", Action.CREATE),)) == ()
    assert new_destruction(first, (change("vm", Action.DELETE),)) == ()
