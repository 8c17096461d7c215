"""An error that names no object, beside the only object that failed."""

from __future__ import annotations

import pytest

from hybridwrap.domain.blame import errors_of
from hybridwrap.domain.engine_run import Action, Diagnostic, Hook, Stream


def hook(address: str, phase: str) -> Hook:
    return Hook(address, Action.DELETE, phase)


def error(summary: str, address: str = "") -> Diagnostic:
    return Diagnostic("error", summary, address=address)


def addresses(*events: Hook | Diagnostic) -> list[str]:
    stream = Stream(
        hooks=tuple(e for e in events if isinstance(e, Hook)),
        diagnostics=tuple(e for e in events if isinstance(e, Diagnostic)),
    )
    return [found.address for found in errors_of(stream)]


ONE_FAILED = (hook("aws_vpc.a", "start"), hook("aws_vpc.a", "errored"))


def test_an_error_without_an_address_is_that_of_the_only_object_that_failed() -> None:
    assert addresses(*ONE_FAILED, error("deleting VPC: in use")) == ["aws_vpc.a"]


def test_an_object_that_never_answered_counts_as_one_that_failed() -> None:
    assert addresses(hook("aws_vpc.a", "start"), error("Plugin did not respond")) == ["aws_vpc.a"]


@pytest.mark.parametrize(
    "events",
    [
        (*ONE_FAILED, hook("aws_vpc.b", "start"), hook("aws_vpc.b", "errored"), error("deleting VPC: in use")),
        (hook("aws_vpc.a", "start"), hook("aws_vpc.a", "complete"), error("deleting VPC: in use")),
        (*ONE_FAILED, error("deleting VPC: in use"), error("deleting subnet: in use")),
        (*ONE_FAILED, error("Failed to save state")),
        (*ONE_FAILED, error("Error releasing the state lock")),
    ],
    ids=["two failed", "none failed", "two errors", "about the state", "about the lock"],
)
def test_where_that_could_be_wrong_no_address_is_given(events: tuple[Hook | Diagnostic, ...]) -> None:
    assert set(addresses(*events)) == {""}


def test_an_object_whose_own_error_is_told_is_not_blamed_for_another() -> None:
    assert addresses(*ONE_FAILED, error("in use", "aws_vpc.a"), error("out of memory")) == ["aws_vpc.a", ""]


def test_the_telling_error_comes_first() -> None:
    stream = Stream(diagnostics=(error("execution halted"), error("no capacity", "aws_instance.web")))
    assert [found.summary for found in errors_of(stream)] == ["no capacity", "execution halted"]
