"""Streams and states of any bytes, cut anywhere: read, or refused by the one error that says so."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hybridwrap.adapters.engine.events import EventReader, read_stream
from hybridwrap.adapters.state_file import parse_state
from hybridwrap.domain.engine_run import Action, Ended
from hybridwrap.domain.json import canonical, loads
from hybridwrap.domain.outcome import Seen, judge
from hybridwrap.domain.partial import objects_after
from hybridwrap.domain.progress import progress
from hybridwrap.domain.redaction import MASK, Redaction
from hybridwrap.errors import StateUnreadable
from tests.support.recordings import RECORDINGS, Recording

streams = st.sampled_from(RECORDINGS).map(lambda recording: recording.data)
states = st.sampled_from([r for r in RECORDINGS if (r.folder / "state-after.json").exists()]).map(
    lambda recording: (recording.folder / "state-after.json").read_bytes()
)
noise = st.one_of(st.binary(max_size=40), st.sampled_from([b"\n", b"{", b"}\n", b'{"type":"log"}\n', "ü✓".encode()]))
texts = st.text(alphabet='aB9 &<"\\\n\t\x00\x1bü✓\u2028\udc80😀', max_size=12)
numbers = st.integers() | st.decimals(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
unhurried = settings(deadline=None)
parts = st.sampled_from(["version", "serial", "lineage", "outputs", "resources", "modules", "check_results"])


@unhurried
@given(streams | st.lists(noise).map(b"".join), st.data())
def test_a_stream_says_the_same_in_however_many_pieces_it_comes(data: bytes, draw: st.DataObject) -> None:
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=8)))
    reader = EventReader()
    events = [
        event
        for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)
        for event in reader.feed(data[start:end])
    ]
    assert reader.stream() == read_stream(data)
    assert events == EventReader().feed(data)


@unhurried
@given(streams, st.integers(0), noise)
def test_noise_in_a_stream_and_a_torn_end_are_never_fatal(data: bytes, place: int, between: bytes) -> None:
    lines = data.splitlines(keepends=True)
    at = place % (len(lines) + 1)
    stream = read_stream(b"".join([*lines[:at], between, b"\n", *lines[at:]])[: -(place % 7) or None])
    whole = read_stream(data)
    assert set(stream.hooks) <= set(whole.hooks)
    assert len(stream.hooks) >= len(whole.hooks) - 1


@unhurried
@given(st.sampled_from(RECORDINGS), st.integers(0, 9_999), st.none() | st.sampled_from([0, 1, 2, 11]))
def test_a_run_torn_anywhere_is_judged_and_loses_no_id(recording: Recording, tear: int, code: int | None) -> None:
    stream, after = read_stream(recording.data[:tear]), recording.after
    assert judge(Seen("apply", Ended(code), stream, recording.before, after)).reason
    listed = {o.id for o in objects_after((), stream, after)}
    deleted = any(hook.action is Action.DELETE for hook in stream.hooks)
    assert deleted or {hook.id_value for hook in stream.mutations if hook.phase == "complete"} <= listed
    parts = progress(stream.planned, stream, after)
    told = [*parts.done, *parts.failed, *parts.in_doubt, *parts.not_begun]
    assert len(told) == len([c for c in stream.planned if c.action is not Action.NOOP or c.reason])


@unhurried
@given(st.binary())
@example(b"")
@example(b"\xef\xbb\xbf{}")
def test_any_bytes_are_a_state_or_refused(data: bytes) -> None:
    refused_or_read(data)


@unhurried
@given(states, st.integers(0), st.binary(max_size=4))
def test_a_damaged_state_is_a_state_or_refused(data: bytes, place: int, damage: bytes) -> None:
    at = place % (len(data) + 1)
    refused_or_read(data[:at] + damage + data[at + len(damage) :])


@unhurried
@given(st.dictionaries(parts, json_values, max_size=4))
def test_any_json_is_a_state_or_refused(document: dict[str, object]) -> None:
    refused_or_read(canonical(document))
    refused_or_read(canonical({**document, "version": 4}))
    refused_or_read(canonical({**document, "version": 3}))


def refused_or_read(data: bytes) -> None:
    with suppress(StateUnreadable):
        parse_state(data)


@unhurried
@given(json_values)
def test_json_comes_back_as_it_went_out(value: object) -> None:
    assert loads(canonical(value)) == value
    assert canonical(loads(canonical(value))) == canonical(value)


@unhurried
@given(st.lists(texts.filter(lambda text: len(text) >= 4), max_size=5), texts)
def test_no_secret_is_left_in_a_text(secrets: list[str], text: str) -> None:
    printed = text + "".join(f" [{secret}]" for secret in secrets)
    masked = Redaction(secrets).text(printed)
    assert not any(secret in masked.replace(MASK, "") for secret in secrets if secret not in f"] [{MASK}")
