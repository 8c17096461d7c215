"""How far plans were carried out, on recorded runs."""

from __future__ import annotations

import pytest

from hybridwrap.domain.engine_run import Action, Hook, PlannedChange, Stream
from hybridwrap.domain.progress import Progress, progress
from hybridwrap.domain.state import EngineState, Instance, Unreadable
from tests.support.recordings import ENGINES, Recording


def holding(*instances: Instance) -> EngineState:
    return EngineState("l", 5, instances=instances)


def names(made: Progress) -> dict[str, list[str]]:
    parts = {"done": made.done, "failed": made.failed, "in_doubt": made.in_doubt, "not_begun": made.not_begun}
    return {part: sorted(change.address for change in changes) for part, changes in parts.items() if changes}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        (
            "apply-one-of-three-fails",
            {"done": ['fakecloud_server.s["a"]', 'fakecloud_server.s["c"]'], "failed": ['fakecloud_server.s["b"]']},
        ),
        (
            "apply-sigint",
            {"done": ["fakecloud_network.n", "fakecloud_server.slow"], "not_begun": ["fakecloud_server.last"]},
        ),
        (
            "apply-sigint-provisioner",
            {"done": ["terraform_data.a"], "failed": ["terraform_data.slow"], "not_begun": ["terraform_data.last"]},
        ),
        (
            "apply-sigkill",
            {"in_doubt": ["fakecloud_network.n", "fakecloud_server.slow"], "not_begun": ["fakecloud_server.last"]},
        ),
        (
            "apply-two-sigint",
            {
                "done": ["fakecloud_network.n"],
                "in_doubt": ["fakecloud_server.slow"],
                "not_begun": ["fakecloud_server.last"],
            },
        ),
        ("deposed-left", {"failed": ["fakecloud_server.s"]}),
        ("moved", {"done": ["terraform_data.bb"]}),
        ("import-ok", {"done": ["fakecloud_server.s", "terraform_data.new"]}),
        ("removed-forget", {"done": ["terraform_data.b", 'terraform_data.c["x"]']}),
        ("replace-create-before-destroy", {"done": ["fakecloud_server.s"]}),
        ("postcondition-fails", {"done": ["terraform_data.a", "terraform_data.c"], "not_begun": ["terraform_data.b"]}),
        (
            "destroy-fails",
            {"done": ['fakecloud_server.s["a"]', 'fakecloud_server.s["c"]'], "failed": ['fakecloud_server.s["b"]']},
        ),
        ("data-source-read", {}),
    ],
)
def test_a_plan_is_parted_by_how_far_it_came(engine: str, scenario: str, expected: dict[str, list[str]]) -> None:
    recording = Recording(engine, scenario)
    assert names(progress(recording.stream.planned, recording.stream, recording.after)) == expected


def test_a_replacement_of_which_only_the_delete_is_done_has_failed() -> None:
    deleted = Stream(
        hooks=(Hook("x.a", Action.DELETE, "start", "x", "id", "1"), Hook("x.a", Action.DELETE, "complete", "x"))
    )
    change = PlannedChange("x.a", Action.REPLACE)
    assert progress([change], deleted, holding()) == Progress(failed=(change,))


def test_a_replacement_that_forgets_the_old_object_is_done_when_the_new_one_is_made() -> None:
    recording = Recording("opentofu-1.12.6", "replace-forgets-old")
    made = progress(recording.stream.planned, recording.stream, recording.after)
    assert names(made) == {"done": ["fakecloud_server.a"]}


@pytest.mark.parametrize("action", [Action.MOVE, Action.IMPORT, Action.FORGET])
def test_what_has_no_events_is_not_begun_when_the_state_does_not_show_it(action: Action) -> None:
    change = PlannedChange("x.a", action)
    held = holding(Instance("x.a", "x", "p", "1")) if action is Action.FORGET else holding()
    assert progress([change], Stream(), held) == Progress(not_begun=(change,))


def test_where_the_state_cannot_be_read_the_events_decide() -> None:
    recording = Recording("terraform-1.11.4", "apply-sigkill")
    made = progress(recording.stream.planned, recording.stream, Unreadable("access denied"))
    assert names(made) == {
        "done": ["fakecloud_network.n"],
        "in_doubt": ["fakecloud_server.slow"],
        "not_begun": ["fakecloud_server.last"],
    }
