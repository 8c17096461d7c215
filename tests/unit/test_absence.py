"""When a module counts as absent: the levels of evidence, and everything that must never count for one."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hybridwrap.domain.absence import Answer, Case, Probe, find, with_word
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.evidence import Absence
from hybridwrap.domain.open_objects import STRAY
from hybridwrap.domain.state import Instance
from hybridwrap.domain.status import Status
from tests.support.ledgers import state

WELL = Absence(ended_well=True, same_lineage=True, readable=True)
NET = CloudObject("aws_vpc.net", "aws_vpc", "id", "vpc-1")
WEB = CloudObject("aws_instance.web", "aws_instance", "id", "i-1")
BEGUN = CloudObject("aws_instance.db", "aws_instance", open=True)
ABSENT = Probe("check", Answer.ABSENT)
SEARCHED = replace(ABSENT, by="tags", search=True)
PRESENT = Probe("check", Answer.PRESENT, ("i-1",))
BLIND = Probe("check", Answer.UNVERIFIABLE, detail="403 Forbidden")
GONE = Case(WELL, state(7), (NET, WEB))
TAKEN_OUT = replace(GONE, left=(replace(WEB, open=True),))
UNANSWERED = replace(GONE, left=(BEGUN,))
DOUBTED = replace(GONE, doubted=True)


def test_all_objects_accounted_for_and_an_empty_state_are_absence() -> None:
    found = find(GONE, [])
    assert found.status is Status.DESTROYED
    assert found.reason == "2 of 2 objects gone, state empty"
    assert found.evidence[0].startswith("A2: ")
    assert "aws_vpc.net vpc-1" in found.evidence[2]
    assert found.objects == ()


def test_a_module_that_never_made_anything_is_absent() -> None:
    found = find(replace(GONE, known=(), state=state(0)), [])
    assert (found.status, found.reason) == (Status.DESTROYED, "no object was ever known, state empty")
    assert "no state" in found.evidence[1]


@pytest.mark.parametrize(
    ("engine", "why"),
    [
        (replace(WELL, ended_well=False), "the engine's events have no end"),
        (replace(WELL, same_lineage=False), "the engine's state is not the one that was destroyed"),
        (replace(WELL, readable=False), "the engine's state can't be read"),
        (replace(WELL, left=(Instance("a.b", "a", "p", "1"),)), "1 of 2 left: a.b 1"),
        (replace(WELL, left=(Instance("a.b", "a", "p", "1", deposed="d1"),)), "1 of 2 left: a.b 1"),
    ],
)
def test_what_the_engine_itself_can_not_say_no_probe_makes_good(engine: Absence, why: str) -> None:
    case = replace(GONE, engine=engine)
    assert case.rounds == 0, "there is nothing to ask about"
    assert find(case, [[ABSENT]]).status is Status.ERROR
    assert find(case, []).reason == why


def test_an_object_that_no_delete_was_seen_of_has_to_be_looked_for() -> None:
    found = find(TAKEN_OUT, [])
    assert found.status is Status.ERROR
    assert found.reason == "no delete was seen of aws_instance.web i-1, and nobody was asked to look"
    assert found.objects == TAKEN_OUT.left
    assert find(TAKEN_OUT, [[ABSENT]]).status is Status.DESTROYED


def test_a_search_by_tags_does_not_show_that_a_certain_object_is_gone() -> None:
    assert find(TAKEN_OUT, [[SEARCHED]]).status is Status.ERROR
    assert find(TAKEN_OUT, [[SEARCHED, ABSENT]]).status is Status.DESTROYED


def test_what_was_begun_without_an_id_has_to_be_searched_for() -> None:
    assert find(UNANSWERED, []).status is Status.ERROR
    assert find(UNANSWERED, [[SEARCHED]]).status is Status.DESTROYED


@pytest.mark.parametrize("rounds", [[], [[ABSENT]], [[], []], [[ABSENT], []]])
def test_after_a_doubt_one_look_is_not_enough(rounds: list[list[Probe]]) -> None:
    assert DOUBTED.rounds == 2
    assert find(DOUBTED, rounds).status is Status.ERROR


def test_after_a_doubt_two_looks_are_enough() -> None:
    found = find(DOUBTED, [[ABSENT], [ABSENT]])
    assert found.status is Status.DESTROYED
    assert found.evidence[0].startswith("A3")
    assert found.evidence[-2:] == ("check: absent", "check: absent")


@pytest.mark.parametrize("rounds", [[[BLIND]], [[ABSENT, BLIND]], [[BLIND], [ABSENT]], [[ABSENT], [BLIND]]])
def test_who_could_not_look_has_not_seen_that_nothing_is_there(rounds: list[list[Probe]]) -> None:
    for case in (GONE, TAKEN_OUT, DOUBTED):
        found = find(case, rounds)
        assert found.status is Status.ERROR
        assert found.reason == (
            "the engine says that all is destroyed, but nobody could look: check: unverifiable 403 Forbidden"
        )
        assert found.objects == case.left


@pytest.mark.parametrize("rounds", [[[PRESENT]], [[ABSENT, PRESENT]], [[PRESENT], [ABSENT]], [[ABSENT], [PRESENT]]])
def test_a_survivor_is_listed_again_although_its_delete_was_reported(rounds: list[list[Probe]]) -> None:
    found = find(GONE, rounds)
    assert found.status is Status.ERROR
    assert found.reason == "the engine says that all is destroyed, but check: present i-1"
    assert found.objects == (replace(WEB, open=True),)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("arn:aws:ec2:eu-west-1:1111:instance/i-1", replace(WEB, open=True)),
        ("arn:aws:sns:eu-west-1:1111:i-1", replace(WEB, open=True)),
        ("i-12", CloudObject(STRAY, id="i-12", open=True)),
    ],
)
def test_a_survivor_is_recognised_by_its_id_or_arn_and_listed_when_nobody_knew_it(
    said: str, found: CloudObject
) -> None:
    assert find(GONE, [[replace(PRESENT, survivors=(said,))]]).objects == (found,)


def test_a_survivor_without_a_name_may_be_any_known_object() -> None:
    objects = find(GONE, [[replace(PRESENT, survivors=())]]).objects
    assert objects == (replace(WEB, open=True), replace(NET, open=True))


def test_what_lives_on_unmanaged_makes_the_module_retained() -> None:
    kept = replace(NET, retained=True)
    found = find(replace(GONE, left=(kept,)), [])
    assert (found.status, found.objects) == (Status.RETAINED, (kept,))
    assert "aws_vpc.net vpc-1" in found.reason
    forgotten = find(replace(GONE, engine=replace(WELL, forgotten=("aws_vpc.net",))), [])
    assert forgotten.status is Status.RETAINED


def test_a_retained_object_hides_no_survivor() -> None:
    case = replace(GONE, left=(replace(NET, retained=True), replace(WEB, open=True)))
    assert find(case, []).status is Status.ERROR
    assert len(find(case, []).objects) == 2


WORD = Probe("ana@laptop says", Answer.ABSENT, detail="(looked in the console)", word=True)


@pytest.mark.parametrize("case", [TAKEN_OUT, UNANSWERED, DOUBTED])
def test_the_word_of_who_has_looked_is_evidence_where_nobody_else_could(case: Case) -> None:
    assert find(case, []).blind
    found = find(case, [with_word((BLIND,), WORD)] * case.rounds)
    assert found.status is Status.DESTROYED
    assert found.evidence.count("ana@laptop says: absent (looked in the console)") == 1
    assert found.evidence[0].startswith("A3: a word for it" if case.doubted else "A2: ")
    assert not found.blind


def test_no_word_overrules_a_state_or_who_saw_something() -> None:
    seen = find(GONE, [with_word((PRESENT, BLIND), WORD)])
    assert (seen.status, seen.blind) == (Status.ERROR, False)
    left = replace(GONE, engine=replace(WELL, left=(Instance("a.b", "a", "p", "1"),)))
    assert (find(left, [(WORD,)]).status, find(left, [(WORD,)]).blind) == (Status.ERROR, False)
