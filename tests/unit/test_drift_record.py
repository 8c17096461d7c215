"""What drift is new, what is accepted and for how long, and since when it is known."""

from __future__ import annotations

import pytest

from hybridwrap.domain.drift import Acceptance, Difference, Drift, DriftResult
from hybridwrap.domain.engine_run import Action
from hybridwrap.domain.entry import Observe
from hybridwrap.errors import LedgerMisused
from tests.support.ledgers import begin, destroyed, ledger_on, ok

TODAY = "2026-07-01"
WEB = Difference("module.a.aws_instance.web[0]", Action.UPDATE, attributes=("tags.team", "user_data"))
GONE = Difference("aws_vpc.main", Action.DELETE)


def accepted(target: str, until: str = "2026-12-31") -> Acceptance:
    return Acceptance(target, until, "the autoscaler does it")


@pytest.mark.parametrize(
    ("target", "left"),
    [
        ("module.a.aws_instance.web[0]", ()),
        ("module.a.aws_instance.web", ()),
        ("module.a", ()),
        ("module.a.aws_instance.web[0].tags", ("user_data",)),
        ("module.a.aws_instance.web[0].tags.team", ("user_data",)),
        ("module.a.aws_instance.web[0].tag", ("tags.team", "user_data")),
        ("module.a.aws_instance.we", ("tags.team", "user_data")),
        ("aws_instance.web", ("tags.team", "user_data")),
    ],
)
def test_an_acceptance_covers_what_it_names_and_all_below_it(target: str, left: tuple[str, ...]) -> None:
    drift = Drift(TODAY, (WEB,), (accepted(target),))
    assert [difference.attributes for difference in drift.new(TODAY)] == ([left] if left else [])


def test_one_attribute_accepted_does_not_accept_that_the_object_is_gone() -> None:
    assert Drift(TODAY, (GONE,), (accepted("aws_vpc.main.tags"),)).result(TODAY) is DriftResult.NEW
    assert Drift(TODAY, (GONE,), (accepted("aws_vpc.main"),)).result(TODAY) is DriftResult.ACCEPTED


def test_an_acceptance_holds_through_its_last_day_and_then_what_it_covered_is_new_again() -> None:
    drift = Drift(TODAY, (GONE,), (accepted("aws_vpc.main", "2026-07-31"),))
    assert drift.result("2026-07-31") is DriftResult.ACCEPTED
    assert drift.result("2026-08-01") is DriftResult.NEW


def test_a_later_decision_about_the_same_replaces_the_earlier_one() -> None:
    drift = Drift(TODAY, (GONE,)).accepting(accepted("aws_vpc.main", "2026-07-31")).accepting(accepted("aws_vpc.main"))
    assert [each.until for each in drift.accepted] == ["2026-12-31"]


def test_what_was_seen_before_keeps_its_time_and_what_is_new_gets_this_one() -> None:
    seen = Drift(accepted=(accepted("x.y"),)).seen([GONE], "monday").seen([WEB, GONE], "tuesday")
    assert [(d.address, d.since) for d in seen.differences] == [(GONE.address, "monday"), (WEB.address, "tuesday")]
    assert (seen.checked, len(seen.accepted)) == ("tuesday", 1)
    assert seen.says([WEB, GONE])
    assert not seen.says([GONE])


def test_nothing_different_is_no_drift_whatever_was_accepted() -> None:
    assert Drift(TODAY, (), (accepted("aws_vpc.main"),)).result(TODAY) is DriftResult.NONE


def test_drift_is_recorded_only_where_something_may_exist() -> None:
    ledger = ledger_on()
    seen = Observe("R1", "drift", drift=Drift(TODAY, (GONE,)))
    with pytest.raises(LedgerMisused, match="nothing that could drift"):
        ledger.observe(ledger.record("vm"), seen)
    ledger.end(ledger.begin(ledger.record("vm"), begin(), operation="O1"), ok(), operation="O1", entry_id="E1")
    assert ledger.observe(ledger.record("vm"), seen).drift == seen.drift
    assert ledger.records()["vm"].drift == seen.drift, "the head has it too"
    held = ledger.begin(ledger.record("vm"), begin("destroy", serial=1), operation="O2")
    gone = ledger.end(held, destroyed(), operation="O2", entry_id="E2")
    with pytest.raises(LedgerMisused):
        ledger.observe(gone, seen)
