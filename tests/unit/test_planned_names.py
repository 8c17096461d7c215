"""Names and tags in a plan, for who has to look for an object in the cloud."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hybridwrap.adapters.engine.planned_names import names_in


def plan(*, actions: tuple[str, ...] = ("create",), sensitive: Any = False, **after: Any) -> bytes:
    change = {"actions": list(actions), "after": after, "after_sensitive": sensitive}
    return json.dumps({"resource_changes": [{"address": "x.a", "change": change}]}).encode()


def test_names_and_tags_are_told_and_nothing_else() -> None:
    told = names_in(plan(name="web", function_name="f", bucket=None, user_data="#!", tags={"team": "shop", "n": 1}))
    assert told == {"x.a": "name web, function_name f, tags n=1 team=shop"}


@pytest.mark.parametrize(
    ("after", "sensitive", "told"),
    [
        ({"name": "hush"}, {"name": True}, {}),
        ({"tags": {"a": "b", "secret": "hush"}}, {"tags": {"secret": True}}, {"x.a": "tags a=b"}),
        ({"tags": {"secret": "hush"}}, {"tags": True}, {}),
    ],
)
def test_what_is_sensitive_stays_in_the_plan(after: dict[str, Any], sensitive: Any, told: dict[str, str]) -> None:
    assert names_in(plan(sensitive=sensitive, **after)) == told


def test_a_replacement_is_a_new_object_too() -> None:
    assert names_in(plan(actions=("delete", "create"), name="web")) == {"x.a": "name web"}
    assert names_in(plan(actions=("update",), name="web")) == {}


@pytest.mark.parametrize("document", [b"", b"[]", b"{}", b'{"resource_changes": null}', b'{"resource_changes": [{}]}'])
def test_a_plan_that_tells_nothing_has_no_names(document: bytes) -> None:
    assert names_in(document) == {}


def test_a_wholly_sensitive_object_has_no_name() -> None:
    assert names_in(plan(sensitive=True, name="hush", tags={"a": "hush"})) == {}
