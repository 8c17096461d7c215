"""Entries to bytes and back: exact, tolerant of newer writers, loud about what it does not know."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hybridwrap.domain import json
from hybridwrap.domain import run as runs
from hybridwrap.domain.codec import INLINE_BYTES, decode_entry, digest_of, encode, encode_entry
from hybridwrap.domain.declared import Declared
from hybridwrap.domain.drift import Acceptance, Difference, Drift
from hybridwrap.domain.engine_run import Diagnostic, PlannedChange
from hybridwrap.domain.entry import (
    BODIES,
    Adopt,
    Begin,
    Body,
    Cancel,
    Carried,
    CloudObject,
    Confirm,
    End,
    EngineIdentity,
    Entry,
    Late,
    LockFile,
    Locks,
    Moved,
    Observe,
    RecordedInput,
    Retain,
    Signal,
    Source,
    StateMark,
    Takeover,
    Writer,
)
from hybridwrap.domain.hooks import HookRun
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.run import ModuleEnd, PendingModule, RunEnd, RunStart
from hybridwrap.domain.stack import EngineWish, StateSettings, Verify
from hybridwrap.domain.state import StatePlace
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.domain.trace import Step
from hybridwrap.errors import LedgerDamaged, LedgerMisused
from tests.support.ledgers import LOCKS, begin, ok, output, state, unknown, writer

SCHEMAS = Path(__file__).parents[2] / "schemas"
ENTRY_SCHEMA = json.loads((SCHEMAS / "entry.v1.json").read_bytes())
RUN_SCHEMA = json.loads((SCHEMAS / "run.v1.json").read_bytes())

HOOK = HookRun("after", ("./smoke-test", "vm"), 3, 0.5)
numbers = st.integers() | st.decimals(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
texts = st.text(max_size=8)
outputs = st.dictionaries(
    texts,
    st.builds(Output, st.sampled_from(Provenance), st.just(True), st.none(), values)
    | st.builds(Output, st.sampled_from(Provenance), st.just(False), values, values),
    max_size=2,
)
inputs = st.dictionaries(
    texts,
    st.builds(RecordedInput, values, st.just(False), texts) | st.builds(RecordedInput, st.none(), st.just(True), texts),
    max_size=2,
)


def listed(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=2).map(tuple)


def built(kind: type[Any], **given_fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Any value of a dataclass of texts, booleans, integers and enums, with some fields as given."""
    return st.builds(kind, **{field: given_fields.get(field, ...) for field in kind.__match_args__})


marks = built(StateMark, place=built(StatePlace))
objects = listed(built(CloudObject))
ends = built(
    End,
    state=st.none() | marks,
    outputs=outputs,
    objects=objects,
    errors=listed(built(Diagnostic)),
    signals=listed(built(Signal)),
    durations=st.dictionaries(texts, st.floats(0, 1e6), max_size=2),
    steps=listed(built(Step)),
)
differences = built(Difference, attributes=listed(texts))
declared = built(
    Declared,
    needs=listed(texts),
    state=built(StateSettings, settings=st.dictionaries(texts, values, max_size=2)),
    engine=built(EngineWish),
    verify=built(Verify, absent=listed(texts), timeout_seconds=st.floats(0, 1e6)),
    backend_config=listed(texts),
    var_files=listed(texts),
)
carried = built(
    Carried,
    inputs=inputs,
    planned=listed(built(PlannedChange)),
    errors=listed(built(Diagnostic)),
    source=st.none() | built(Source),
    engine=st.none() | built(EngineIdentity),
    declared=st.none() | declared,
    drift=st.none() | built(Drift, differences=listed(differences)),
)
bodies: st.SearchStrategy[Body] = st.one_of(
    built(
        Begin,
        declared=st.none() | declared,
        engine=built(EngineIdentity),
        source=built(Source),
        state=marks,
        locks=built(Locks, engine=built(LockFile), runner=built(LockFile)),
        planned=listed(built(PlannedChange)),
        inputs=inputs,
        previous_outputs=outputs,
        hooks=listed(
            built(HookRun, argv=listed(texts), exit_code=st.none() | st.integers(), seconds=st.floats(0, 1e6))
        ),
    ),
    built(Confirm, state=marks),
    ends,
    built(Cancel),
    built(Takeover, locks=st.just(LOCKS)),
    built(
        Observe,
        state=st.none() | marks,
        outputs=st.none() | outputs,
        objects=st.none() | objects,
        inputs=st.none() | inputs,
        source=st.none() | built(Source),
        engine=st.none() | built(EngineIdentity),
        drift=st.none() | built(Drift, differences=listed(differences), accepted=listed(built(Acceptance))),
    ),
    built(
        Adopt,
        state=marks,
        outputs=outputs,
        objects=objects,
        origin=st.dictionaries(texts, values, max_size=2),
        carried=st.none() | carried,
    ),
    built(Retain),
    built(Moved),
    built(Late, end=ends),
)


def entry_of(body: Body) -> Entry:
    return Entry("L1", "vm", "I1", 1, "O1", "E1", "", "2026-01-01T00:00:00.000Z", writer(), body)


class BlobsInMemory:
    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        self.kept[digest_of(data)] = data
        return digest_of(data)

    def get(self, digest: str) -> bytes:
        return self.kept[digest]


def there_and_back(entry: Entry) -> Entry:
    blobs = BlobsInMemory()
    return decode_entry(encode_entry(entry, blobs.put), "vm entry 1", blobs.get)


@given(bodies)
def test_an_entry_comes_back_as_it_was_and_fits_the_schema(body: Body) -> None:
    blobs = BlobsInMemory()
    data = encode_entry(entry_of(body), blobs.put)
    assert decode_entry(data, "vm entry 1", blobs.get) == entry_of(body)
    Draft202012Validator(ENTRY_SCHEMA).validate(json.loads(data))


def test_numbers_that_a_float_cannot_hold_come_back_to_the_last_digit() -> None:
    exact = [Decimal("0.1000000000000000055511151231257827"), 2**80, Decimal("1E+400"), Decimal("1.10")]
    entry = entry_of(msgspec.structs.replace(ok(), outputs={"n": output(exact)}))
    found = there_and_back(entry).body
    assert isinstance(found, End)
    assert [str(n) for n in found.outputs["n"].value] == [str(n) for n in exact]


def test_equal_entries_have_equal_bytes() -> None:
    blobs = BlobsInMemory()
    one = entry_of(ok(a=1, b=2))
    other = entry_of(ok(b=2, a=1))
    assert encode_entry(one, blobs.put) == encode_entry(other, blobs.put)


def test_fields_of_a_newer_writer_are_ignored_on_every_level() -> None:
    blobs = BlobsInMemory()
    document = json.loads(encode_entry(entry_of(ok(a=1)), blobs.put))
    document["weather"] = "fine"
    document["body"]["weather"] = {"wind": 3}
    document["body"]["outputs"]["a"]["weather"] = None
    assert decode_entry(json.canonical(document), "vm entry 1", blobs.get) == entry_of(ok(a=1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "bequeath"}, r"vm entry 7: of unknown kind 'bequeath'"),
        ({"kind": None}, r"vm entry 7: of unknown kind None"),
        ({"v": 2}, r"vm entry 7: of format 2, this hybridwrap knows 1"),
        ({"seq": "one"}, r"vm entry 7: Expected `int`"),
        ({"body": {}}, r"vm entry 7: Object missing required field `outcome`"),
        ({"body": None}, r"vm entry 7: Expected `object`"),
        ({"blobs": {"outputs": 5}}, r"vm entry 7: its blobs are not readable"),
    ],
)
def test_what_is_not_an_entry_that_we_know_is_damage_that_names_the_seq(change: dict[str, Any], message: str) -> None:
    document = {**json.loads(encode_entry(entry_of(unknown()), str)), **change}
    with pytest.raises(LedgerDamaged, match=message):
        decode_entry(json.canonical(document), "vm entry 7", BlobsInMemory().get)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b"null", b'"x"'])
def test_bytes_that_are_no_json_object_are_damage(data: bytes) -> None:
    with pytest.raises(LedgerDamaged, match="vm entry 7"):
        decode_entry(data, "vm entry 7", BlobsInMemory().get)


def test_large_inputs_and_outputs_lie_in_blobs_and_nobody_notices() -> None:
    large = "x" * (INLINE_BYTES + 1)
    blobs = BlobsInMemory()
    for body in (
        ok(small=1, large=large),
        Late(ok(large=large)),
        msgspec.structs.replace(begin(), inputs={"i": RecordedInput(large)}, previous_outputs={"o": output(large)}),
    ):
        data = encode_entry(entry_of(body), blobs.put)
        assert len(data) < 5_000
        assert decode_entry(data, "vm entry 1", blobs.get) == entry_of(body)
        Draft202012Validator(ENTRY_SCHEMA).validate(json.loads(data))
    assert all(large.encode() in blob for blob in blobs.kept.values())


SECRET = Output(Provenance.KNOWN, sensitive=True, value="hunter2")
SECRET_INPUT = RecordedInput("hunter2", sensitive=True)


@pytest.mark.parametrize(
    "body",
    [
        msgspec.structs.replace(ok(), outputs={"password": SECRET}),
        Late(msgspec.structs.replace(ok(), outputs={"password": SECRET})),
        msgspec.structs.replace(begin(), previous_outputs={"password": SECRET}),
        msgspec.structs.replace(begin(), inputs={"password": SECRET_INPUT}),
        Observe("R1", "seen", outputs={"password": SECRET}),
        Adopt("R1", "taken in", state(1), outputs={"password": SECRET}),
        Adopt("R1", "renamed", state(1), carried=Carried("I1", Status.OK, inputs={"password": SECRET_INPUT})),
    ],
)
def test_the_value_of_a_secret_is_never_written(body: Body) -> None:
    with pytest.raises(LedgerMisused, match=r"the sensitive (output|input) 'password'") as caught:
        encode_entry(entry_of(body), str)
    assert "hunter2" not in str(caught.value)


def test_a_secret_without_its_value_is_written() -> None:
    hidden = Output(Provenance.KNOWN, sensitive=True)
    assert there_and_back(entry_of(msgspec.structs.replace(ok(), outputs={"password": hidden})))


def test_every_kind_has_a_body_and_the_schema_knows_it() -> None:
    assert {f"#/$defs/{body.__name__}" for body in BODIES.values()} == {
        rule["then"]["properties"]["body"]["$ref"] for rule in ENTRY_SCHEMA["allOf"]
    }


def documented(schema: dict[str, Any], modules: list[Any]) -> Iterator[tuple[type[Any], dict[str, Any]]]:
    for name, definition in schema["$defs"].items():
        for kind in (getattr(module, name, None) for module in modules):
            if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
                yield kind, definition


def test_the_schemas_name_every_field_that_is_written() -> None:
    from hybridwrap.domain import drift, engine_run, entry, outputs, state

    found = [
        *documented(ENTRY_SCHEMA, [entry, engine_run, outputs, state, drift]),
        *documented(RUN_SCHEMA, [runs, engine_run, entry]),
    ]
    assert {RunStart, RunEnd, ModuleEnd, PendingModule, Begin, End, Writer, StatePlace} <= {kind for kind, _ in found}
    for kind, definition in found:
        assert set(definition["properties"]) - {"v"} == set(kind.__match_args__), kind.__name__


@pytest.mark.parametrize(
    "document",
    [
        RunStart("R1", "apply", "2026-01-01T00:00:00Z", writer(), ("apply", "vm"), ("vm",), {"vm": ()}),
        RunEnd("R1", "2026-01-01T00:00:00Z", 4, {"vm": ModuleEnd("error", 4, errors=(Diagnostic("error", "no"),))}),
        RunEnd("R1", "2026-01-01T00:00:00Z", 4, {"vm": ModuleEnd("ok", 4, hooks=(HOOK,))}, hooks=(HOOK,)),
    ],
)
def test_the_documents_of_runs_fit_their_schema(document: object) -> None:
    Draft202012Validator(RUN_SCHEMA).validate(json.loads(encode(document)))


def test_outcomes_and_statuses_are_written_as_their_words() -> None:
    document = json.loads(encode_entry(entry_of(ok()), str))
    assert (document["kind"], document["body"]["outcome"], document["body"]["status"]) == (
        "end",
        Outcome.SUCCEEDED.value,
        Status.OK.value,
    )
