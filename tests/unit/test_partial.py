"""What is known after operations of every ending: outputs, and every object ever seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from hybridwrap.adapters.engine.events import read_stream
from hybridwrap.adapters.state_file import parse_state
from hybridwrap.domain.engine_run import Action, Diagnostic, Hook, OutputChange, PlannedChange, Stream
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.partial import objects_after, outputs_after
from hybridwrap.domain.state import EngineState, Instance, StateOutput, Unreadable
from tests.support.recordings import ENGINES, RECORDINGS, Recording

DATA = Path(__file__).parents[1] / "data"
KNOWN, STALE, PARTIAL, MISSING = Provenance.KNOWN, Provenance.STALE, Provenance.PARTIAL, Provenance.MISSING


def state(**outputs: object) -> EngineState:
    kinds = {int: "number", bool: "bool", str: "string"}
    told = {name: StateOutput(value, kinds[type(value)], sensitive=False) for name, value in outputs.items()}
    return EngineState("l", 1, outputs=told)


def recorded(name: str) -> EngineState:
    return parse_state((DATA / "states" / f"{name}.json").read_bytes())


def provenances(outputs: dict[str, Output]) -> dict[str, Provenance]:
    return {name: output.provenance for name, output in outputs.items()}


def failed(
    change: Action | None,
    *,
    old: object = None,
    new: object = None,
    before: Output | None = None,
    planned: bool = True,
) -> Output:
    """The output x after a failed apply: as planned, as in the state before and after, as recorded before."""
    changes = {"other": OutputChange(Action.NOOP)} if planned else {}
    return outputs_after(
        succeeded=False,
        declared=["x"],
        output_changes=changes | ({"x": OutputChange(change)} if change else {}),
        before={"x": before} if before else {},
        state_before=state(**({"x": old} if old is not None else {})),
        state_after=state(**({"x": new} if new is not None else {})),
    )["x"]


# outputs after a success


def test_after_a_success_what_is_in_the_state_is_known_and_what_is_not_is_null() -> None:
    outputs = outputs_after(
        succeeded=True,
        declared=["obj", "public_id", "static"],
        output_changes={},
        before={"gone": Output(KNOWN, value="x")},
        state_before=None,
        state_after=recorded("null-output-left-out"),
    )
    assert provenances(outputs) == {"obj": KNOWN, "public_id": KNOWN, "static": KNOWN}
    assert outputs["public_id"].value is None
    assert outputs["obj"].value == {"set": "yes", "unset": None}


def test_a_null_of_no_type_is_missing_also_after_a_success() -> None:
    outputs = outputs_after(
        succeeded=True,
        declared=["app_id", "bucket_id"],
        output_changes={},
        before={},
        state_before=None,
        state_after=recorded("null-output-with-dynamic-type"),
    )
    assert provenances(outputs) == {"app_id": MISSING, "bucket_id": KNOWN}


def test_a_success_without_any_state_leaves_declared_outputs_null() -> None:
    outputs = outputs_after(
        succeeded=True, declared=["x"], output_changes={}, before={}, state_before=None, state_after=None
    )
    assert outputs == {"x": Output(KNOWN)}


def test_after_a_success_an_encrypted_state_proves_no_output() -> None:
    before = {"x": Output(KNOWN, value="old")}
    envelope = replace(state(), readable=False)
    outputs = outputs_after(
        succeeded=True, declared=["x", "y"], output_changes={}, before=before, state_before=None, state_after=envelope
    )
    assert outputs == {"x": Output(STALE, value="old"), "y": Output(MISSING)}


def test_a_sensitive_value_is_never_kept() -> None:
    outputs = outputs_after(
        succeeded=True,
        declared=["token"],
        output_changes={},
        before={},
        state_before=None,
        state_after=recorded("sensitive-nested"),
    )
    assert outputs["token"] == Output(KNOWN, sensitive=True, value=None, type="string")
    assert outputs["nested"].value is None
    assert outputs["plain"].value == "p"


# outputs after a failure


@pytest.mark.parametrize("engine", ENGINES)
def test_a_failed_first_apply_knows_the_outputs_that_were_made(engine: str) -> None:
    recording = Recording(engine, "apply-one-of-three-fails")
    outputs = outputs_after(
        succeeded=False,
        declared=["a_ip", "ips"],
        output_changes=recording.stream.output_changes,
        before={},
        state_before=recording.before,
        state_after=recording.after,
    )
    assert provenances(outputs) == {"a_ip": KNOWN, "ips": MISSING}


def test_what_a_failed_first_apply_did_not_make_is_missing_and_not_null() -> None:
    plan = read_stream((DATA / "streams" / "first-apply-partial-plan.jsonl").read_bytes())
    outputs = outputs_after(
        succeeded=False,
        declared=["vpc_id", "db_id", "cache_id", "pair", "region"],
        output_changes=plan.output_changes,
        before={},
        state_before=None,
        state_after=recorded("first-apply-partial-outputs"),
    )
    assert provenances(outputs) == {
        "vpc_id": KNOWN,
        "region": KNOWN,
        "db_id": MISSING,
        "cache_id": MISSING,
        "pair": MISSING,
    }


def test_after_a_failed_destroy_the_last_values_stay_readable() -> None:
    """The engine has emptied its outputs by then; what was recorded is older than what happened."""
    before = {"bucket_id": Output(KNOWN, value="b-1"), "app_id": Output(KNOWN, sensitive=True)}
    outputs = outputs_after(
        succeeded=False,
        declared=["bucket_id", "app_id"],
        output_changes={name: OutputChange(Action.DELETE) for name in before},
        before=before,
        state_before=state(bucket_id="b-1", app_id="a"),
        state_after=recorded("destroy-failed-no-outputs"),
    )
    assert outputs == {"bucket_id": Output(STALE, value="b-1"), "app_id": Output(STALE, sensitive=True)}


@pytest.mark.parametrize(
    ("change", "old", "new", "expected"),
    [
        (Action.NOOP, "a", "a", KNOWN),
        (Action.UPDATE, "a", "b", KNOWN),
        (Action.UPDATE, "a", "a", STALE),  # may be the id of an object that is gone
        (Action.UPDATE, 1, True, KNOWN),  # equal for Python, of another type
        (Action.CREATE, None, "a", KNOWN),
        (Action.CREATE, None, None, MISSING),
        (Action.DELETE, "a", "a", STALE),
        (Action.OTHER, "a", "a", STALE),
        (None, "a", "a", STALE),  # the plan does not name it
        (None, "a", "b", STALE),
    ],
)
def test_with_a_plan_an_output_is_known_when_it_is_proven_new_or_untouched(
    change: Action | None, old: object, new: object, expected: Provenance
) -> None:
    output = failed(change, old=old, new=new)
    assert output.provenance is expected
    assert output.value == (None if expected is MISSING else new)


def test_a_null_that_was_planned_to_stay_null_is_known() -> None:
    assert failed(Action.NOOP) == Output(KNOWN)
    assert failed(Action.NOOP, before=Output(STALE, value="long ago")) == Output(KNOWN)


@pytest.mark.parametrize("action", [Action.CREATE, Action.UPDATE, Action.DELETE, None])
def test_what_was_recorded_stays_readable_where_the_state_has_nothing(action: Action | None) -> None:
    assert failed(action, old="a", before=Output(KNOWN, value="a", type="string")) == Output(
        STALE, False, "a", "string"
    )


def test_what_was_missing_stays_missing() -> None:
    assert failed(Action.UPDATE, before=Output(MISSING)).provenance is MISSING


@pytest.mark.parametrize(("old", "expected"), [("a", PARTIAL), ("b", STALE)])
def test_without_a_plan_nothing_is_proven(old: str, expected: Provenance) -> None:
    assert failed(None, old=old, new="b", planned=False) == Output(expected, value="b", type="string")


def test_without_the_state_from_before_the_recorded_value_is_compared() -> None:
    changes = {"x": OutputChange(Action.UPDATE), "y": OutputChange(Action.UPDATE)}
    before = {"x": Output(KNOWN, value="a", type="string"), "y": Output(KNOWN, value="a", type="string")}
    outputs = outputs_after(
        succeeded=False,
        declared=["x", "y"],
        output_changes=changes,
        before=before,
        state_before=None,
        state_after=state(x="a", y="b"),
    )
    assert provenances(outputs) == {"x": STALE, "y": KNOWN}


def test_a_record_without_a_type_is_compared_by_value() -> None:
    outputs = outputs_after(
        succeeded=False,
        declared=["x"],
        output_changes={"x": OutputChange(Action.UPDATE)},
        before={"x": Output(KNOWN, value="a")},
        state_before=None,
        state_after=state(x="a"),
    )
    assert outputs["x"].provenance is STALE


def test_a_recorded_null_that_was_to_stay_null_is_known() -> None:
    outputs = outputs_after(
        succeeded=False,
        declared=["x"],
        output_changes={"x": OutputChange(Action.NOOP)},
        before={"x": Output(KNOWN)},
        state_before=None,
        state_after=state(),
    )
    assert outputs == {"x": Output(KNOWN)}


def test_a_sensitive_output_whose_old_value_is_not_at_hand_is_not_proven_new() -> None:
    outputs = outputs_after(
        succeeded=False,
        declared=["x"],
        output_changes={"x": OutputChange(Action.UPDATE, sensitive=True)},
        before={"x": Output(KNOWN, sensitive=True, type="string")},
        state_before=None,
        state_after=state(x="a"),
    )
    assert outputs == {"x": Output(STALE, sensitive=True, type="string")}


def test_a_state_that_was_not_proven_saved_leaves_all_stale() -> None:
    before = {"x": Output(KNOWN, value="a"), "y": Output(PARTIAL, value="b"), "z": Output(MISSING)}
    changes = dict.fromkeys("xyz", OutputChange(Action.UPDATE))
    outputs = outputs_after(
        succeeded=False, declared="xyz", output_changes=changes, before=before, state_before=None, state_after=None
    )
    assert provenances(outputs) == {"x": STALE, "y": STALE, "z": MISSING}
    assert outputs["x"].value == "a"


# objects


def after(scenario: str, engine: str, recorded: tuple[CloudObject, ...] = ()) -> tuple[CloudObject, ...]:
    recording = Recording(engine, scenario)
    return objects_after(recorded or known(recording.before), recording.stream, recording.after)


def known(before: EngineState | None) -> tuple[CloudObject, ...]:
    return objects_after((), Stream(), before)


def shown(objects: tuple[CloudObject, ...]) -> list[tuple[str, bool, bool]]:
    """Address, whether the id is known, whether it is open."""
    return [(o.address, bool(o.id), o.open) for o in objects]


@pytest.mark.parametrize(
    "recording", [r for r in RECORDINGS if r.verb in {"apply", "destroy"} and r.scenario != "encrypted-apply"], ids=str
)
def test_every_id_ever_seen_is_present_open_retained_or_was_deleted(recording: Recording) -> None:
    stream, before, held = recording.stream, known(recording.before), recording.after
    objects = objects_after(before, stream, held)
    listed = {o.id: o for o in objects}
    deleted = {
        start.id_value
        for start in stream.hooks
        for end in stream.hooks
        if start.action is Action.DELETE and start.phase == "start"
        if (end.address, end.action, end.phase) == (start.address, Action.DELETE, "complete")
    }
    seen = {o.id for o in before} | {h.id_value for h in stream.mutations if h.id_value}
    assert seen - deleted <= set(listed)
    in_state = {instance.id for instance in (held.instances if held else ())}
    assert in_state <= set(listed)
    for o in objects:
        assert o.id in in_state or o.open or o.retained


@pytest.mark.parametrize("engine", ENGINES)
def test_after_a_kill_what_was_made_and_not_saved_is_open_with_its_id(engine: str) -> None:
    assert shown(after("apply-sigkill", engine)) == [
        ("fakecloud_network.n", True, True),  # complete in the stream, no state object
        ("fakecloud_server.slow", False, True),  # begun, no answer
    ]


@pytest.mark.parametrize("engine", ["terraform-1.11.4", "terraform-1.15.5"])
def test_after_a_kill_in_a_provisioner_its_object_is_open(engine: str) -> None:
    assert shown(after("apply-sigkill-local", engine)) == [
        ("terraform_data.a", True, False),
        ("terraform_data.slow", False, True),
    ]


def test_an_object_saved_before_its_provisioner_ended_is_open_although_not_tainted() -> None:
    begun = (
        Hook("x.a", Action.CREATE, "start", "x"),
        Hook("x.a", Action.OTHER, "start", "x", provisioner="local-exec"),
    )
    found = holding(Instance("x.a", "x", "p", "1"))
    unfinished = replace(A, open=True, unfinished=True)
    assert objects_after((), Stream(hooks=begun), found) == (unfinished,)
    assert objects_after([A], Stream(hooks=begun[1:]), found) == (unfinished,)
    assert objects_after([unfinished], Stream(), found) == (unfinished,)


def test_a_state_file_emptied_by_a_kill_leaves_the_events_as_witness() -> None:
    assert shown(after("apply-sigkill-local", "opentofu-1.12.6")) == [
        ("terraform_data.a", True, True),
        ("terraform_data.slow", False, True),
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_after_two_interrupts_the_object_in_flight_is_open(engine: str) -> None:
    """The engine calls its create errored: it did not wait for the answer, and the object is there."""
    assert ("fakecloud_server.slow", False, True) in shown(after("apply-two-sigint", engine))


def test_opentofu_loses_objects_at_two_interrupts_and_they_stay_open_with_their_ids() -> None:
    assert shown(after("apply-two-sigint-local", "opentofu-1.12.6")) == [
        ("fakecloud_network.n[0]", True, True),
        ("fakecloud_network.n[1]", True, True),
        ("fakecloud_server.slow", False, True),
        ("terraform_data.t", True, False),
    ]


def test_creates_that_a_crashed_provider_did_not_answer_are_open() -> None:
    assert shown(after("provider-crash", "terraform-1.11.4")) == [
        ('fakecloud_server.s["a"]', False, True),
        ('fakecloud_server.s["b"]', False, True),  # this one was made
        ('fakecloud_server.s["c"]', True, False),
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_create_that_the_provider_refused_leaves_nothing_open(engine: str) -> None:
    assert shown(after("apply-one-of-three-fails", engine)) == [
        ('fakecloud_server.s["a"]', True, False),
        ('fakecloud_server.s["c"]', True, False),
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_tainted_objects_are_there_and_not_open(engine: str) -> None:
    assert ('fakecloud_server.s["b"]', True, False) in shown(after("apply-partial-tainted", engine))
    assert not any(o.open for o in after("apply-provisioner-fails", engine))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_deposed_object_that_could_not_be_deleted_is_listed_and_not_open(engine: str) -> None:
    assert shown(after("deposed-left", engine)) == [("fakecloud_server.s", True, False)] * 2


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("scenario", ["destroy-ok", "destroy-planfile"])
def test_nothing_is_left_after_a_whole_destroy(engine: str, scenario: str) -> None:
    assert after(scenario, engine) == ()


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_destroy_could_not_delete_is_left(engine: str) -> None:
    assert shown(after("destroy-fails", engine)) == [('fakecloud_server.s["b"]', True, False)]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_replaced_object_is_gone_and_the_new_one_there(engine: str) -> None:
    (replaced,) = after("replace-create-before-destroy", engine)
    recording = Recording(engine, "replace-create-before-destroy")
    assert recording.before is not None
    assert replaced.id != recording.before.instances[0].id


@pytest.mark.parametrize("engine", ENGINES)
def test_a_moved_object_keeps_its_id_under_its_new_address(engine: str) -> None:
    recording = Recording(engine, "moved")
    assert recording.before is not None
    ids = {i.address: i.id for i in recording.before.instances}
    assert {o.address: o.id for o in after("moved", engine)}["terraform_data.bb"] == ids["terraform_data.b"]
    assert len(after("moved", engine)) == 3


@pytest.mark.parametrize(
    ("engine", "scenario", "address"),
    [
        *((engine, "removed-forget", "terraform_data.b") for engine in ENGINES),
        ("opentofu-1.12.6", "destroy-leaves-forgotten", "fakecloud_server.a"),
        ("opentofu-1.12.6", "replace-forgets-old", "fakecloud_server.a"),
    ],
)
def test_what_the_configuration_lets_go_is_retained_and_stays_so(engine: str, scenario: str, address: str) -> None:
    objects = after(scenario, engine)
    (kept,) = [o for o in objects if o.retained and o.address == address]
    assert kept.id
    assert not kept.open
    assert kept in objects_after(objects, Stream(), Recording(engine, scenario).after)


A = CloudObject("x.a", "x", "id", "1")


def holding(*instances: Instance) -> EngineState:
    return EngineState("l", 5, instances=instances)


def test_what_a_refresh_found_gone_is_left_out() -> None:
    drift = Stream(drifted=(PlannedChange("x.a", Action.DELETE),))
    assert objects_after([A], drift, holding()) == ()
    assert objects_after([A], Stream(), holding()) == (replace(A, open=True),)  # taken out of the state by hand


def test_what_the_refresh_of_a_plan_to_destroy_found_gone_is_left_out_by_its_id() -> None:
    seen = Stream(vanished={"x.a": "1"})
    older = replace(A, id="0")
    assert objects_after([A, older], seen, holding()) == (replace(older, open=True),)


def test_what_a_refresh_found_gone_is_no_longer_open_but_one_without_an_id_is() -> None:
    drift = Stream(drifted=(PlannedChange("x.a", Action.DELETE),))
    begun = CloudObject("x.a", "x", open=True)
    assert objects_after([replace(A, open=True), begun], drift, holding()) == (begun,)


def test_what_the_state_has_no_more_since_its_delete_began_is_deleted_though_nobody_said_so() -> None:
    begun = Stream(hooks=(Hook("x.a", Action.DELETE, "start", "x", "id", "1"),))
    assert objects_after([A], begun, holding()) == ()
    assert objects_after([A], begun, holding(Instance("x.a", "x", "p", "1"))) == (replace(A, open=True),)


@pytest.mark.parametrize("found", [None, EngineState("", 0, zero_bytes=True), EngineState("l", 5, readable=False)])
def test_a_state_that_no_engine_has_saved_says_nothing_of_a_delete_that_began(found: EngineState | None) -> None:
    begun = Stream(hooks=(Hook("x.a", Action.DELETE, "start", "x", "id", "1"),))
    assert objects_after([A], begun, found) == (replace(A, open=True),)


def test_a_replacement_killed_in_its_create_leaves_the_old_object_and_an_open_one() -> None:
    begun = Stream(hooks=(Hook("x.a", Action.CREATE, "start", "x"),))
    objects = objects_after([A], begun, holding(Instance("x.a", "x", "p", "1")))
    assert objects == (CloudObject("x.a", "x", open=True), A)


def test_an_object_that_turned_up_by_itself_does_not_resolve_an_open_one() -> None:
    begun = CloudObject("x.a", "x", open=True)
    assert objects_after([begun], Stream(), holding(Instance("x.a", "x", "p", "1"))) == (begun, A)


def test_a_provisioner_without_an_end_is_about_the_current_object_and_not_a_deposed_one() -> None:
    begun = Stream(hooks=(Hook("x.a", Action.OTHER, "start", "x", provisioner="local-exec"),))
    found = holding(Instance("x.a", "x", "p", "2"), Instance("x.a", "x", "p", "1", deposed="0a0b0c0d"))
    assert objects_after([A], begun, found) == (A, CloudObject("x.a", "x", "id", "2", open=True, unfinished=True))


def test_a_create_without_an_end_is_open_also_when_the_engine_reports_other_errors() -> None:
    begun = Stream(
        hooks=(Hook("x.a", Action.CREATE, "start", "x"),), diagnostics=(Diagnostic("error", "no", address="x.b"),)
    )
    assert objects_after((), begun, holding()) == (CloudObject("x.a", "x", open=True),)


@pytest.mark.parametrize("summary", ["operation canceled", "Plugin did not respond"])
@pytest.mark.parametrize("ends", [(), (Hook("x.a", Action.DELETE, "errored", "x"),)])
def test_a_delete_that_nobody_answered_is_open(summary: str, ends: tuple[Hook, ...]) -> None:
    start = Hook("x.a", Action.DELETE, "start", "x", "id", "1")
    stream = Stream(hooks=(start, *ends), diagnostics=(Diagnostic("error", summary),))
    assert objects_after([A], stream, holding(Instance("x.a", "x", "p", "1"))) == (replace(A, open=True),)


def test_a_refused_delete_of_an_object_that_nobody_listed_lists_it() -> None:
    refused = Stream(
        hooks=(Hook("x.a", Action.DELETE, "start", "x", "id", "1"), Hook("x.a", Action.DELETE, "errored", "x")),
        diagnostics=(Diagnostic("error", "in use"),),
    )
    assert objects_after((), refused, holding()) == (replace(A, open=True),)


def test_an_open_object_stays_open_until_it_is_resolved() -> None:
    lost, begun = replace(A, open=True), CloudObject("x.b", "x", open=True)
    assert objects_after([lost, begun], Stream(), holding()) == (lost, begun)


def test_importing_resolves_an_open_object() -> None:
    lost, begun = replace(A, open=True), CloudObject("x.b", "x", open=True)
    imported = Stream(planned=tuple(PlannedChange(address, Action.IMPORT) for address in ("x.a", "x.b")))
    found = holding(Instance("x.a", "x", "p", "1"), Instance("x.b", "x", "p", "2"))
    assert objects_after([lost, begun], imported, found) == (A, CloudObject("x.b", "x", "id", "2"))


def test_making_another_object_does_not_resolve_an_open_one() -> None:
    begun = CloudObject("x.a", "x", open=True)
    made = Stream(
        hooks=(
            Hook("x.a", Action.CREATE, "start", "x"),
            Hook("x.a", Action.CREATE, "complete", "x", "id", "2"),
        )
    )
    objects = objects_after([begun], made, holding(Instance("x.a", "x", "p", "2")))
    assert objects == (begun, CloudObject("x.a", "x", "id", "2"))


def test_an_object_without_an_attribute_id_is_one_object() -> None:
    made = Stream(
        hooks=(
            Hook("x.a", Action.CREATE, "start", "x"),
            Hook("x.a", Action.CREATE, "complete", "x", "name", "web"),
        )
    )
    found = holding(Instance("x.a", "x", "p"))
    objects = objects_after((), made, found)
    assert objects == (CloudObject("x.a", "x", "name", "web"),)
    assert objects_after(objects, Stream(), found) == objects
    deleted = Stream(
        hooks=(
            Hook("x.a", Action.DELETE, "start", "x", "name", "web"),
            Hook("x.a", Action.DELETE, "complete", "x"),
        )
    )
    assert objects_after(objects, deleted, holding()) == ()


@pytest.mark.parametrize("action", [Action.UPDATE, Action.DELETE])
def test_an_update_or_a_delete_without_an_end_leaves_its_object_open(action: Action) -> None:
    begun = Stream(hooks=(Hook("x.a", action, "start", "x", "id", "1"),))
    assert objects_after([A], begun, holding(Instance("x.a", "x", "p", "1"))) == (replace(A, open=True),)


def test_a_state_that_cannot_be_read_leaves_what_the_events_say() -> None:
    made = Stream(hooks=(Hook("x.b", Action.CREATE, "complete", "x", "id", "2"),))
    for state_after in (replace(holding(), readable=False), Unreadable("a page of HTML")):
        assert objects_after([A], made, state_after) == (A, CloudObject("x.b", "x", "id", "2"))


def test_an_action_without_an_end_is_open() -> None:
    begun = Stream(hooks=(Hook("action.x.a", Action.OTHER, "start"),))
    assert shown(objects_after((), begun, holding())) == [("action.x.a", False, True)]


def test_an_object_that_the_provider_no_longer_gave_back_is_open() -> None:
    error = Diagnostic(
        "error", "Provider produced inconsistent result after apply", "Root object was present, but now absent"
    )
    lost = Stream(
        hooks=(Hook("x.a", Action.CREATE, "start", "x"), Hook("x.a", Action.CREATE, "errored", "x")),
        diagnostics=(error,),
    )
    assert objects_after((), lost, holding()) == (CloudObject("x.a", "x", open=True),)
    attributed = Stream(hooks=lost.hooks, diagnostics=(error, Diagnostic("error", "quota exceeded", address="x.a")))
    assert objects_after((), attributed, holding()) == ()
