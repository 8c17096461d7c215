"""The event stream, as three engines write it and as it arrives when things go wrong."""

from __future__ import annotations

import json
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest

from hybridwrap.adapters.engine.events import KEPT_LENGTH, KEPT_LINES, EventReader, read_stream
from hybridwrap.domain.engine_run import (
    Action,
    ChangeSummary,
    Diagnostic,
    Hook,
    LockInfo,
    OutputChange,
    PlannedChange,
)
from tests.support.recordings import ENGINES, RECORDINGS, Recording

STREAMS = Path(__file__).parents[1] / "data" / "streams"


def event(kind: str, **content: object) -> bytes:
    return json.dumps({"@level": "info", "@message": "", "type": kind, **content}).encode() + b"\n"


def hook(kind: str, address: str = "x.a", **content: object) -> bytes:
    return event(kind, hook={"resource": {"addr": address, "resource_type": "x"}, **content})


# every recording


@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
def test_every_event_of_a_recording_is_read_or_of_no_consequence(recording: Recording) -> None:
    events = Counter(json.loads(line).get("type") for line in recording.data.splitlines() if line.startswith(b"{"))
    stream = recording.stream
    assert len(stream.planned) == events["planned_change"]
    assert len(stream.drifted) == events["resource_drift"]
    assert len(stream.diagnostics) == events["diagnostic"]
    assert len(stream.summaries) == events["change_summary"]
    ends = ("apply_start", "apply_complete", "apply_errored", "provision_start", "provision_errored")
    assert len(stream.hooks) == sum(events[end] for end in ends)
    assert stream.unknown_types == ()


@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
def test_product_and_version_come_from_the_stream(recording: Recording) -> None:
    product, _, version = recording.engine.rpartition("-")
    assert (recording.stream.product, recording.stream.version) == (product, version)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_planned_change_has_address_action_type_and_reason(engine: str) -> None:
    assert Recording(engine, "deposed-left").stream.planned == (
        PlannedChange("fakecloud_server.s", Action.REPLACE, "fakecloud_server", "cannot_update"),
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_drift_is_kept_apart_from_the_plan(engine: str) -> None:
    drifted = Recording(engine, "plan-drift").stream.drifted
    assert {(change.address, change.action) for change in drifted} == {
        ('fakecloud_server.s["a"]', Action.UPDATE),
        ('fakecloud_server.s["b"]', Action.DELETE),
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_an_object_that_a_refresh_finds_gone_has_vanished(engine: str) -> None:
    (address,) = Recording(engine, "plan-drift").stream.vanished
    assert address == 'fakecloud_server.s["b"]'


def test_only_an_object_whose_id_was_known_before_the_refresh_can_vanish() -> None:
    without_id = hook("refresh_start") + hook("refresh_complete")
    still_there = hook("refresh_start", "x.b", id_value="b-1") + hook("refresh_complete", "x.b", id_value="b-1")
    not_answered = hook("refresh_start", "x.c", id_value="c-1")
    assert read_stream(without_id + still_there + not_answered).vanished == {}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_created_object_tells_its_id(engine: str) -> None:
    (made,) = [h for h in Recording(engine, "apply-sigkill").stream.hooks if h.phase == "complete"]
    assert (made.address, made.action, made.type, made.id_key) == (
        "fakecloud_network.n",
        Action.CREATE,
        "fakecloud_network",
        "id",
    )
    assert made.id_value.startswith("net-")
    assert made.time.endswith("Z")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_provisioner_without_an_end_is_seen(engine: str) -> None:
    hooks = [h for h in Recording(engine, "apply-sigkill-local").stream.hooks if h.provisioner]
    assert [(h.address, h.phase, h.provisioner) for h in hooks] == [("terraform_data.slow", "start", "local-exec")]


@pytest.mark.parametrize("engine", ENGINES)
def test_reading_a_data_source_is_no_mutation(engine: str) -> None:
    stream = Recording(engine, "data-source-read").stream
    assert [h.action for h in stream.hooks] == [Action.READ, Action.READ]
    assert stream.mutations == ()


@pytest.mark.parametrize("engine", ENGINES)
def test_changes_of_outputs_are_those_of_the_plan(engine: str) -> None:
    assert Recording(engine, "sensitive-output").stream.output_changes == {
        "password": OutputChange(Action.CREATE, sensitive=True),
        "plain": OutputChange(Action.CREATE),
        "pw": OutputChange(Action.CREATE, sensitive=True),
    }
    assert Recording(engine, "apply-planfile").stream.output_changes == {}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_final_summary_is_told_from_the_plans(engine: str) -> None:
    final = Recording(engine, "destroy-planfile").stream.final
    assert final is not None
    assert (final.operation, final.count("remove"), final.count("add")) == ("apply", 3, 0)
    assert Recording(engine, "plan-changes").stream.final is None
    assert Recording(engine, "apply-one-of-three-fails").stream.final is None


def test_a_summary_keeps_words_that_only_some_releases_know() -> None:
    plan = Recording("opentofu-1.12.6", "removed-forget").stream.summaries[0]
    assert plan.count("forget") == 2
    assert plan.count("action_invocation") == 0
    assert "action_invocation" in Recording("terraform-1.15.5", "removed-forget").stream.summaries[0].changes


@pytest.mark.parametrize("engine", ENGINES)
def test_a_diagnostic_names_file_and_line_and_leaves_the_snippet_behind(engine: str) -> None:
    (error,) = Recording(engine, "plan-error").stream.errors
    assert error == Diagnostic("error", "Resource precondition failed", "n must be above 3", "", "main.tf", 8)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("scenario", ["locked-by-other", "unlock-denied"])
def test_the_lock_in_a_diagnostic_is_the_one_in_the_store(engine: str, scenario: str) -> None:
    recording = Recording(engine, scenario)
    name = "lock_held.json" if scenario == "locked-by-other" else "lock_after.json"
    stored = json.loads((recording.folder / name).read_bytes())
    lock = recording.stream.errors[-1].lock
    assert lock is not None
    assert (lock.id, lock.path, lock.operation, lock.who, lock.version) == tuple(
        stored[key] for key in ("ID", "Path", "Operation", "Who", "Version")
    )
    assert lock.created[:19] == stored["Created"][:19].replace("T", " ")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_refused_lock_without_lock_info_has_none(engine: str) -> None:
    assert [error.lock for error in Recording(engine, "lock-denied").stream.errors] == [None]


def test_lock_info_needs_an_id() -> None:
    assert Diagnostic("error", "", "Lock Info:\n  Path:      p\n").lock is None
    assert Diagnostic("error", "", "Lock Info:\n  ID:        1\n  Info:  \n").lock == LockInfo("1")


def test_a_local_lock_whose_holder_is_not_named_yet_is_held_all_the_same() -> None:
    detail = "Error message: resource temporarily unavailable\n\nTerraform acquires a state lock"
    assert str(Diagnostic("error", "Error acquiring the state lock", detail).lock) == "another process"
    assert Diagnostic("error", "Error acquiring the state lock", "Error message: access denied").lock is None
    assert Diagnostic("error", "no capacity", detail).lock is None


@pytest.mark.parametrize("engine", ENGINES)
def test_a_dumped_state_is_kept_byte_for_byte_and_not_as_text(engine: str) -> None:
    recording = Recording(engine, "state-dump-in-stream")
    dump = recording.stream.state_dump
    assert dump is not None
    assert dump.startswith(b'{"version":4,')
    assert dump in recording.data
    assert recording.stream.plain_lines == ()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("scenario", "interrupts"),
    [("apply-ok", 0), ("apply-sigint", 1), ("apply-sigterm", 1), ("plan-sigint", 1), ("apply-two-sigint", 2)],
)
def test_the_engine_says_how_often_it_was_interrupted(engine: str, scenario: str, interrupts: int) -> None:
    stream = Recording(engine, scenario).stream
    assert stream.interrupts == interrupts
    assert stream.interrupted is (interrupts > 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_slow_state_lock_shows_itself(engine: str) -> None:
    assert Recording(engine, "slow-lock").stream.lock_steps == ("acquire", "release")
    assert Recording(engine, "apply-ok").stream.lock_steps == ()


@pytest.mark.parametrize("engine", ENGINES)
def test_progress_is_told_to_who_feeds_and_not_kept(engine: str) -> None:
    recording = Recording(engine, "apply-progress")
    told = EventReader().feed(recording.data)
    assert [e.phase for e in told if isinstance(e, Hook)] == ["start", "progress", "complete"]
    assert [h.phase for h in recording.stream.hooks] == ["start", "complete"]


# noise


def test_text_in_front_of_the_events_is_kept() -> None:
    stream = Recording("opentofu-1.12.6", "cli-config-warning").stream
    assert stream.plain_lines[0] == "Warning: Unable to open CLI configuration file"
    assert len(stream.planned) == 3
    first_init = Recording("terraform-1.11.4", "init-s3-first").stream
    assert first_init.plain_lines[0].startswith('Successfully configured the backend "s3"!')
    assert "\x1b" not in "".join(first_init.plain_lines)


def test_lines_between_the_events_and_a_torn_one_are_no_crash() -> None:
    stream = read_stream((STREAMS / "other-lines.jsonl").read_bytes())
    assert [(h.address, h.phase) for h in stream.hooks] == [
        ("terraform_data.a", "start"),
        ("terraform_data.a", "complete"),
    ]
    assert stream.errors == (Diagnostic("error", "it broke", "", "terraform_data.b"),)
    assert stream.unknown_types == ("some_future_type",)
    acquiring, warning, torn = stream.plain_lines
    assert acquiring == "Acquiring state lock. This may take a few moments..."
    assert warning.endswith('something from a plugin {"not":"ours"}')
    assert torn.endswith("cut off in the mid")


@pytest.mark.parametrize("file", sorted((STREAMS / "around").iterdir()), ids=lambda file: file.stem)
def test_what_is_no_event_is_never_taken_for_one(file: Path) -> None:
    stream = read_stream(event("version", terraform="1.15.0") + file.read_bytes())
    assert stream.version == "1.15.0"
    assert (stream.planned, stream.hooks, stream.diagnostics, stream.output_changes) == ((), (), (), {})


def test_bytes_that_are_not_utf8_and_control_characters_do_no_harm() -> None:
    noise = b"\xff\xfe bad\r\n10%\r20%\r\nnul[\x00]\n\x1b[31mred\x1b[0m\n"
    stream = read_stream(noise + hook("apply_start", action="create"))
    assert stream.plain_lines == ("\ufffd\ufffd bad", "10%\n20%", "nul[\ufffd]", "red")
    assert len(stream.hooks) == 1


def test_an_event_with_broken_utf8_is_still_read() -> None:
    stream = read_stream(event("diagnostic", diagnostic={"severity": "error", "summary": "S"}).replace(b"S", b"\xff"))
    assert stream.errors[0].summary == "\ufffd"


def test_an_error_that_is_said_for_each_of_many_objects_is_told_once() -> None:
    halted = event("diagnostic", diagnostic={"severity": "error", "summary": "execution halted"})
    other = event("diagnostic", diagnostic={"severity": "error", "summary": "no capacity", "address": "x.a"})
    assert [error.summary for error in read_stream(halted + other + halted * 3).errors] == [
        "execution halted",
        "no capacity",
    ]


def test_control_characters_of_a_provisioner_do_not_reach_the_diagnostic() -> None:
    (error,) = read_stream((STREAMS / "odd-bytes-in-output.jsonl").read_bytes()).errors
    assert error.detail.endswith("Output: \ufffd\ufffd bad\n10%\n20%\nnul[\ufffd]\nred\n")


def test_resource_keys_are_those_of_the_engine() -> None:
    stream = read_stream((STREAMS / "odd-resource-keys.jsonl").read_bytes())
    assert 'terraform_data.r["$${x}"]' in {h.address for h in stream.hooks}
    assert stream.errors[0].address == 'terraform_data.r["space key"]'


@pytest.mark.parametrize(
    "odd",
    [
        b"null\n",
        b"[]\n",
        b'"text"\n',
        b"{}\n",
        b'{"type": null}\n',
        b'{"type": 7}\n',
        b"{" * 100_000 + b"\n",
        b'{"type":"log","x":' + b"[" * 100_000 + b"\n",
        b'{"type":"log","@message":"\\ud800"}\n',
        b"\n\n\n",
    ],
)
def test_odd_lines_are_harmless(odd: bytes) -> None:
    stream = read_stream(odd + hook("apply_start", action="create"))
    assert len(stream.hooks) == 1


@pytest.mark.parametrize(
    "strange",
    [
        event("apply_start", hook={"resource": "x.a"}),
        event("apply_complete", hook=None),
        event("planned_change", change={"resource": {"addr": "x.a"}}),
        event("change_summary", changes=[1]),
        event("diagnostic", diagnostic="it broke"),
        event("outputs", outputs={"a": 1}),
    ],
)
def test_a_known_event_of_an_unknown_shape_is_reported_as_an_unknown_one(strange: bytes) -> None:
    stream = read_stream(strange)
    assert stream.unknown_types == (json.loads(strange)["type"],)


def test_an_action_and_a_word_that_we_do_not_know_are_kept() -> None:
    change = event("planned_change", change={"resource": {"addr": "x.a"}, "action": "teleport", "new_key": {}})
    assert read_stream(change).planned == (PlannedChange("x.a", Action.OTHER),)
    summary = event("change_summary", changes={"operation": "apply", "teleport": 3})
    assert read_stream(summary).summaries == (ChangeSummary("apply", {"teleport": 3}),)


def test_invoking_an_action_is_a_mutation() -> None:
    invoked = {"action": {"addr": "action.x_restart.a"}, "lifecycle": {"resource": {"addr": "x.a"}}}
    stream = read_stream(event("action_start", hook=invoked) + event("action_complete", hook=invoked))
    assert [(h.address, h.phase) for h in stream.mutations] == [
        ("action.x_restart.a", "start"),
        ("action.x_restart.a", "complete"),
    ]


# piece by piece, and very much


def test_a_line_may_come_in_pieces_cut_anywhere() -> None:
    data = event("version", tofu="1.12.6") + hook("apply_start", "x.ünï", action="create")
    reader = EventReader()
    for index in range(len(data)):
        reader.feed(data[index : index + 1])
    assert reader.stream() == read_stream(data)
    assert reader.stream().hooks[0].address == "x.ünï"


def test_each_event_is_told_once_with_the_bytes_that_complete_it() -> None:
    reader = EventReader()
    line = hook("apply_start", action="create")
    assert reader.feed(line[:-1]) == []
    assert [e.phase for e in reader.feed(line[-1:] + line) if isinstance(e, Hook)] == ["start", "start"]
    assert reader.feed(b"") == []


def test_asking_for_the_stream_in_the_middle_of_a_line_does_no_harm() -> None:
    reader = EventReader()
    line = hook("apply_complete", action="create", id_key="id", id_value="1")
    reader.feed(line[:40])
    assert len(reader.stream().plain_lines) == 1
    reader.feed(line[40:-1])
    assert len(reader.stream().hooks) == 1  # whole but for the newline: it is evidence
    reader.feed(line[-1:])
    assert len(reader.stream().hooks) == 1
    assert reader.stream().plain_lines == ()


def test_of_very_much_text_the_last_lines_are_kept_and_shortened() -> None:
    reader = EventReader()
    for number in range(KEPT_LINES * 3):
        reader.feed(b"%d " % number + "ü".encode() * KEPT_LENGTH + b"\n")
    lines = reader.stream().plain_lines
    assert len(lines) == KEPT_LINES
    assert lines[-1].startswith(f"{KEPT_LINES * 3 - 1} üü")
    assert {len(line) for line in lines} == {KEPT_LENGTH}


def test_text_that_never_ends_its_line_takes_no_memory() -> None:
    reader = EventReader()
    tracemalloc.start()
    for number in range(2_000):
        reader.feed(b"%d" % number * 3_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000
    assert reader.stream().plain_lines == ("0" * KEPT_LENGTH,)


def test_a_torn_state_dump_does_not_show_what_it_holds() -> None:
    torn = event("log", **{"@module": "terraform.ui", "state": {"outputs": {"s": {"value": "made-up-secret"}}}})[:-4]
    assert "made-up-secret" not in "".join(read_stream(torn).plain_lines)


def test_output_of_provisioners_is_not_kept() -> None:
    shouted = hook("provision_progress", provisioner="local-exec", output="x" * 1000)
    reader = EventReader()
    for _ in range(1000):
        reader.feed(shouted)
    stream = reader.stream()
    assert (stream.hooks, stream.plain_lines) == ((), ())
