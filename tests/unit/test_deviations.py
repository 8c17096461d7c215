"""What differs in an object, read from the engine's JSON of a refresh-only plan: by attribute, secrets left out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hybridwrap.adapters.engine.deviations import deviations_in
from hybridwrap.domain.deviation import MOST_PATHS, Change, Marks, changes_between
from hybridwrap.domain.drift import Difference
from hybridwrap.domain.engine_run import Action


def plan(*drifted: dict[str, Any]) -> bytes:
    return json.dumps({"format_version": "1.2", "resource_drift": drifted}).encode()


def drifted(address: str = "aws_instance.web", actions: tuple[str, ...] = ("update",), **change: Any) -> dict[str, Any]:
    return {"address": address, "mode": "managed", "type": "aws_instance", "change": {"actions": actions, **change}}


def paths(before: Any, after: Any, *marks: Any) -> dict[str, bool]:
    found = changes_between(before, after, tuple(map(Marks, marks)))
    return {change.path: change.hidden for change in found}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"size": "s"}, {"size": "l"}, ["size"]),
        ({"tags": {"a": "1", "b.c": "2"}}, {"tags": {"a": "9", "z": "1"}}, ["tags.a", 'tags["b.c"]', "tags.z"]),
        ({"rule": [{"port": 1}, {"port": 2}]}, {"rule": [{"port": 1}, {"port": 3}]}, ["rule[1].port"]),
        ({"ids": ["a"]}, {"ids": ["a", "b"]}, ["ids"]),
        ({"tags": None}, {"tags": {"a": "1"}}, ["tags"]),
        ({"a": None}, {}, []),
    ],
)
def test_only_what_differs_is_named_and_as_deep_as_it_can_be_compared(
    before: Any, after: Any, expected: list[str]
) -> None:
    assert sorted(paths(before, after)) == sorted(expected)


@pytest.mark.parametrize("marks", [{"user": {"password": True}}, {"user": True}, True])
def test_a_sensitive_value_is_never_there_wherever_its_mark_stands(marks: Any) -> None:
    before, after = {"user": {"password": "old", "age": 1}}, {"user": {"password": "new", "age": 1}}
    for both in ((marks, None), (None, marks)):
        found = changes_between(before, after, tuple(map(Marks, both)))
        assert [change.hidden for change in found] == [True]
        assert "new" not in repr(found)


def test_a_value_that_appears_with_a_secret_inside_is_hidden_as_a_whole() -> None:
    assert paths({"user": None}, {"user": {"password": "new"}}, None, {"user": {"password": True}}) == {"user": True}
    assert paths({"users": []}, {"users": [{"p": "new"}]}, None, {"users": [{"p": True}]}) == {"users": True}


def test_marks_of_a_list_count_by_position() -> None:
    assert paths({"l": ["a", "b"]}, {"l": ["x", "y"]}, {"l": [False, True]}) == {"l[0]": False, "l[1]": True}


def test_of_an_object_that_differs_everywhere_only_the_top_level_attributes_are_named() -> None:
    many = {f"k{n}": n for n in range(MOST_PATHS + 1)}
    assert paths({"big": {}, "small": 1, "same": 1}, {"big": many, "small": 2, "same": 1}) == {
        "big": True,
        "small": True,
    }


def test_changed_gone_and_deposed_objects_are_read_and_moved_ones_and_data_are_not() -> None:
    found = deviations_in(
        plan(
            drifted(before={"size": "s"}, after={"size": "l"}),
            drifted("aws_vpc.main", ("delete",), before={"id": "vpc-1"}, after=None),
            {**drifted("aws_vpc.old", ("delete",)), "deposed": "0a1b"},
            drifted("aws_vpc.moved", ("no-op",)),
            {**drifted("data.aws_ami.any"), "mode": "data"},
        )
    )
    assert [deviation.difference for deviation in found] == [
        Difference("aws_instance.web", Action.UPDATE, "aws_instance", ("size",)),
        Difference("aws_vpc.main", Action.DELETE, "aws_instance"),
        Difference("aws_vpc.old (deposed 0a1b)", Action.DELETE, "aws_instance"),
    ]
    assert found[0].changes == (Change("size", "s", "l"),)


def test_text_around_the_json_does_not_matter_and_no_json_says_nothing() -> None:
    assert len(deviations_in(b"Warning: a file is missing\n\n" + plan(drifted()) + b"\n")) == 1
    assert deviations_in(b"Error: something\n") == ()
    assert deviations_in(json.dumps({"format_version": "1.2"}).encode()) == ()


def test_numbers_are_compared_and_shown_to_the_last_digit() -> None:
    text = plan(drifted(before={"n": "BEFORE"}, after={"n": 1})).replace(b'"BEFORE"', b"0.10000000000000000001")
    (change,) = deviations_in(text)[0].changes
    assert str(change.before) == "0.10000000000000000001"
